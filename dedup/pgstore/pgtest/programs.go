package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// program finds a program of PostgreSQL, the newest where there are several:
// Debian has them in folders that are not on the path.
func program(name string) (string, error) {
	found, best := "", 0
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is good
	for _, path := range paths {
		version, _ := strconv.Atoi(strings.Split(path, "/")[4])
		if version > best {
			found, best = path, version
		}
	}
	if found != "" {
		return found, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", errors.New("PostgreSQL is not there: apt-get install postgresql (or make services)")
	}
	return path, nil
}

// owner is who the server runs as: it refuses to be root. Nil is who we are.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

// command is a program of PostgreSQL in the server's folder.
func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	path, err := program(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = child()
	cmd.SysProcAttr.Credential = s.as
	return cmd, nil
}
