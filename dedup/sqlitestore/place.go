package sqlitestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// making keeps two Opens of one process apart while the file is made. Closing
// any descriptor of a file drops all of the process's locks on it, those of
// SQLite included, so this package may hold one only before SQLite does.
var making sync.Mutex

// prepareFile returns the absolute path of a file that is there, on a file
// system that can hold it.
func prepareFile(path string) (string, error) {
	if path == "" {
		return "", errors.New("no path is given")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(abs)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the folder %s is not there: make it first (mkdir -m 700 -p %s)", dir, dir)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%w: the file and its folder must be writable for this process", err)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", dir)
	}
	if system, found := OnNetwork(abs); found {
		return "", fmt.Errorf("%s is on a network file system (%s), where SQLite's locks and shared memory do not hold: "+
			"put the file on a local disk, or use the redis or postgres store to share it between machines", dir, system)
	}
	return abs, makeFile(abs)
}

// makeFile makes the file before SQLite would, so that nobody else can read
// it: it holds answers of ticket systems. SQLite gives its log the same mode.
func makeFile(path string) error {
	making.Lock()
	defer making.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
