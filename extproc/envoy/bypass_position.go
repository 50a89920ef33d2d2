package envoy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// positions are how far log files were read, by what each begins with: a name
// says nothing of a file that was rotated or cut, and the number of a file is
// given again.
type positions map[string]int64

// loadPositions is empty when there is no file, or none that can be read: then
// everything is reported once more rather than lost.
func loadPositions(path string) (positions, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return positions{}, nil
	}
	p := positions{}
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return positions{}, fmt.Errorf("bypass log: %w", err)
	}
	return p, nil
}

// save replaces the file at once, so that it is never half written.
func (p positions) save(path string) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("bypass log: %w", err)
	}
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("bypass log: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("bypass log: %w", err)
	}
	return nil
}

// beginning is how much of a file tells it from others, at most.
const beginning = 4 << 10

// identity is made from the first line; empty while that is not whole.
func identity(f io.ReaderAt) (string, error) {
	head := make([]byte, beginning)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("bypass log: %w", err)
	}
	end := bytes.IndexByte(head[:n], '\n')
	if end < 0 {
		if n < beginning {
			return "", nil
		}
		end = n
	}
	sum := sha256.Sum256(head[:end])
	return hex.EncodeToString(sum[:16]), nil
}
