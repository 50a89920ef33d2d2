package envoy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocketPath is the longest path of a UNIX socket that every system takes
// (Linux has room for 107 bytes and their end).
const maxSocketPath = 107

// SocketPath returns the path of the UNIX socket called name that belongs to
// stateDir: inside it, or, where that is too long for a socket, under a short
// name in the user's run-time folder. Then note says so, for the log at start.
// The path is absolute, and the same for every program with the same stateDir.
func SocketPath(stateDir, name string) (path, note string, err error) {
	dir, err := filepath.Abs(stateDir)
	if err != nil {
		return "", "", fmt.Errorf("state directory: %w", err)
	}
	path = filepath.Join(dir, name)
	if len(path) <= maxSocketPath {
		return path, "", nil
	}
	sum := sha256.Sum256([]byte(dir))
	runtimeDir, err := runtimeFolder()
	if err != nil {
		return "", "", err
	}
	short := filepath.Join(runtimeDir, "oneticket-"+hex.EncodeToString(sum[:4])+"-"+name)
	if len(short) > maxSocketPath {
		return "", "", fmt.Errorf("socket %s: the path has more than %d bytes, and so has %s", path, maxSocketPath, short)
	}
	note = fmt.Sprintf("the path %s has more than %d bytes: the socket is %s", path, maxSocketPath, short)
	return short, note, nil
}

// runtimeFolder is XDG_RUNTIME_DIR, else a folder of ours in the folder for
// temporary files that nobody else can have put there.
func runtimeFolder() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	dir := filepath.Join(os.TempDir(), "oneticket-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("run-time folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("run-time folder: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("run-time folder: %s is not a folder of ours alone; set XDG_RUNTIME_DIR", dir)
	}
	return dir, nil
}
