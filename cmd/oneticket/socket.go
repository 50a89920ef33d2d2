package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"oneticket/config"
)

// A listening is a socket that is open, and how the server has to treat it.
type listening struct {
	net.Listener
	place   string // for a person
	options []grpc.ServerOption
}

type listen func(*slog.Logger) (listening, error)

// ownSocket is for an Envoy of the same user. state_dir is ours alone, so a
// socket that is there was left behind.
func ownSocket(path string) listen {
	return func(*slog.Logger) (listening, error) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return listening{}, err
		}
		return listenUnix(path, 0o600, -1)
	}
}

// settingSocket is what the setting socket says, or, without it, the path.
func settingSocket(cfg *config.Config, path string) listen {
	return func(log *slog.Logger) (listening, error) {
		setting, mode, group, isUnix := config.UnixSocket(cfg.Socket)
		switch {
		case cfg.Socket == "":
			return ownSocket(path)(log)
		case !isUnix:
			return listenTLS(cfg.Socket, cfg.TLS, log)
		}
		setting, err := filepath.Abs(setting)
		if err != nil {
			return listening{}, err
		}
		if err := takeOver(setting); err != nil {
			return listening{}, err
		}
		return listenUnix(setting, mode, group)
	}
}

// takeOver removes a socket that was left behind, and nothing else.
func takeOver(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is there and is no socket: name another path, or remove it", path)
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return fmt.Errorf("%s is in use by another process", path)
	}
	return os.Remove(path)
}

// listenUnix never opens the socket to more than it says, not for an instant.
func listenUnix(path string, mode os.FileMode, group int) (listening, error) {
	before := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(before)
	if err != nil {
		return listening{}, err
	}
	if group >= 0 {
		if err := os.Chown(path, -1, group); err != nil {
			l.Close()
			return listening{}, fmt.Errorf("%w (this user has to be a member of group %d)", err, group)
		}
	}
	if err := os.Chmod(path, mode); err != nil {
		l.Close()
		return listening{}, err
	}
	return listening{Listener: l, place: "unix:" + path}, nil
}

// listenTLS takes connections of those alone whose certificate one of ours has
// signed: whoever reaches the filter decides on creates.
func listenTLS(address string, files map[string]string, log *slog.Logger) (listening, error) {
	last, err := loadTLS(files)
	if err != nil {
		return listening{}, fmt.Errorf("tls: %w", err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return listening{}, err
	}
	// Certificates are replaced while we run: each connection, of which there
	// are few, begins with those that are there.
	outer := last.Clone()
	outer.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now, err := loadTLS(files)
		if err != nil {
			log.Error("the certificates of the socket cannot be read: the proxy's connection is refused", "error", err)
			return nil, err
		}
		return now, nil
	}
	return listening{
		Listener: l,
		place:    l.Addr().String() + " (mutual TLS)",
		options:  []grpc.ServerOption{grpc.Creds(credentials.NewTLS(outer))},
	}, nil
}

func loadTLS(files map[string]string) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(files["cert"], files["key"])
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(files["ca"])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s has no certificate", files["ca"])
	}
	return &tls.Config{
		Certificates: []tls.Certificate{cert},
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2"},
	}, nil
}

// socketPath is where the filter listens: "unix:PATH", or a place of its own.
// Of serve it may be HOST:PORT, and then there is no path.
func socketPath(p *process, setting string, dir *stateDir) (string, error) {
	if setting == "" {
		return dir.socket(p.log)
	}
	path, _, _, ok := config.UnixSocket(setting)
	switch {
	case ok:
		return filepath.Abs(path)
	case p.serves:
		return "", nil
	default:
		return "", fmt.Errorf(`socket %q: run reaches its own filter by a UNIX socket: want "unix:PATH"`, strings.TrimSpace(setting))
	}
}
