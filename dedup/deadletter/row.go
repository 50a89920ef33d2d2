package deadletter

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// A row is a letter as the file has it.
type row struct {
	n, size      int64
	letter       Letter
	letterLength int // of its text
}

// rowOverhead is what a letter takes in the file beside its own text.
const rowOverhead = 256

func sizeOf(text []byte, l *Letter) int64 {
	return int64(len(text)+len(l.Body)+len(l.Ref.Rule)+len(l.Ref.Scope)+len(l.Ref.Key)) + rowOverhead
}

// textOf is the letter as the small table keeps it: neither the id, which the
// table gives, nor the body.
func textOf(l Letter) ([]byte, error) {
	l.ID, l.Body = "", nil
	return json.Marshal(l)
}

func readRow(scan func(...any) error, more ...any) (row, error) {
	var r row
	var text []byte
	if err := scan(append([]any{&r.n, &r.size, &text}, more...)...); err != nil {
		return row{}, err
	}
	if err := json.Unmarshal(text, &r.letter); err != nil {
		return row{}, fmt.Errorf("letter %s: %w", idOf(r.n), err)
	}
	r.letter.ID, r.letterLength = idOf(r.n), len(text)
	return r, nil
}

// rowsOf reads all that the statement gives; the caller bounds it.
func rowsOf(ctx context.Context, stmt *sql.Stmt, args ...any) ([]row, error) {
	found, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var rows []row
	for found.Next() {
		r, err := readRow(found.Scan)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, found.Err()
}
