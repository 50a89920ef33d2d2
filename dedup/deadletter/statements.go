package deadletter

import (
	"context"
	"database/sql"
)

// statements are prepared once; those that write on the one connection that
// writes.
type statements struct {
	same, add, addBody, repeat, repeats, oldest, row, ofEpisode, drop, dropBody *sql.Stmt // of the writer
	list, get, exists, older, last                                              *sql.Stmt // of the readers
}

const ofEpisode = " FROM letters WHERE rule = ? AND scope = ? AND key = ? AND episode = ?"

func (s *statements) prepare(ctx context.Context, writer, readers *sql.DB) error {
	for _, p := range []struct {
		db   *sql.DB
		to   **sql.Stmt
		text string
	}{
		{writer, &s.same, "SELECT n, size, letter" + ofEpisode + " AND digest = ?"},
		{writer, &s.add, "INSERT INTO letters (rule, scope, key, episode, digest, at, size, letter) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
		{writer, &s.addBody, "INSERT INTO bodies (n, body) VALUES (?, ?)"},
		{writer, &s.repeat, "UPDATE letters SET at = ?, size = ?, letter = ? WHERE n = ?"},
		{writer, &s.repeats, "SELECT n, size, letter" + ofEpisode + " ORDER BY at DESC, n DESC LIMIT -1 OFFSET ?"},
		{writer, &s.oldest, "SELECT n, size, letter FROM letters WHERE at < ? AND n <> ? ORDER BY at, n LIMIT ?"},
		{writer, &s.row, "SELECT n, size, letter FROM letters WHERE n = ?"},
		{writer, &s.ofEpisode, "SELECT n, size, letter" + ofEpisode},
		{writer, &s.drop, "DELETE FROM letters WHERE n = ?"},
		{writer, &s.dropBody, "DELETE FROM bodies WHERE n = ?"},
		{readers, &s.list, "SELECT n, size, letter FROM letters WHERE n > ? ORDER BY n LIMIT ?"},
		{readers, &s.get, "SELECT letters.n, size, letter, body FROM letters JOIN bodies USING (n) WHERE n = ?"},
		{readers, &s.exists, "SELECT EXISTS (SELECT 1" + ofEpisode + ")"},
		{readers, &s.last, "SELECT letters.n, size, letter, body FROM letters JOIN bodies USING (n) WHERE rule = ? AND scope = ? AND key = ? ORDER BY n DESC LIMIT 1"},
		{readers, &s.older, "SELECT EXISTS (SELECT 1 FROM letters WHERE at < ?)"},
	} {
		stmt, err := p.db.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.to = stmt
	}
	return nil
}
