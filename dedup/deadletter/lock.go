package deadletter

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrInUse: another process has the file open.
var ErrInUse = errors.New("the dead letters are in use by another oneticket")

// lock takes the file beside the letters that says whose they are. It is not
// the file itself: closing any descriptor of that would drop the locks that
// SQLite holds on it. The kernel lets the lock go when the process dies,
// however it dies.
func lock(ctx context.Context, path string, patience time.Duration) (*os.File, error) {
	f, err := os.OpenFile(path+"-lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(patience)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(err, f.Close())
		}
		if !time.Now().Before(until) || ctx.Err() != nil {
			f.Close()
			return nil, ErrInUse
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}
