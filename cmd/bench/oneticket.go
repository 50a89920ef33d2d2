package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"oneticket/dedup/pgstore/pgtest"
)

func buildOneticket(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "oneticket")
	out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "oneticket/cmd/oneticket").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, bytes.TrimSpace(out))
	}
	return binary, nil
}

// startOneticket starts one with an Envoy of its own.
func (s *stage) startOneticket(ctx context.Context, binary, store, block string) error {
	path, err := findEnvoy()
	if err != nil {
		return err
	}
	dir, err := s.folder("oneticket-" + store)
	if err != nil {
		return err
	}
	c := contestant{name: "oneticket, " + store}
	if c.address, err = freeAddress(); err != nil {
		return err
	}
	if c.admin, err = freeAddress(); err != nil {
		return err
	}
	file := filepath.Join(dir, "oneticket.hcl")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, filepath.Join(dir, "state"), c.admin, s.desk.URL, c.address, block), 0o600); err != nil {
		return err
	}
	end, err := s.process(ctx, exec.Command(binary, "run", "-c", file, "--envoy", path, "--log-level", "error"), func() bool {
		res, err := http.Get("http://" + c.admin + "/ready")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	if err != nil {
		return fmt.Errorf("oneticket on %s: %w", store, err)
	}
	s.ends = append(s.ends, end)
	s.contestants = append(s.contestants, c)
	return nil
}

// configuration is that of a rule in fault mode; reads of tickets, which would
// be asked for every five minutes, are not what is measured.
const configuration = `
state_dir = %q
admin     = %q
backend "servicenow" {
  url    = %q
  listen = %q
}
rule "faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"
  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
}
%s`

// redisBlock starts a server and says how it is reached.
func redisBlock(ctx context.Context, s *stage) (string, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", errors.New("no redis-server: run `make services`, or apt-get install redis-server")
	}
	dir, err := s.folder("redis")
	if err != nil {
		return "", err
	}
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction")
	end, err := s.process(ctx, cmd, func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	if err != nil {
		return "", fmt.Errorf("redis-server: %w", err)
	}
	s.ends = append(s.ends, end)
	return fmt.Sprintf("store \"redis\" {\n  url = %q\n}\n", "redis://"+address), nil
}

// postgresBlock starts a server that writes as one does which is meant to keep
// what it has.
func postgresBlock(_ context.Context, s *stage) (string, error) {
	server, err := pgtest.Start("fsync=on", "synchronous_commit=on", "full_page_writes=on")
	if err != nil {
		return "", err
	}
	s.ends = append(s.ends, server.End)
	return fmt.Sprintf("store \"postgres\" {\n  url = %q\n}\n", server.SocketURL()), nil
}

// process runs a command until end is called, and waits until it is ready.
func (s *stage) process(ctx context.Context, cmd *exec.Cmd, ready func() bool) (end func(), err error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	end = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(startWithin / 4):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for !ready() {
		select {
		case <-ended:
			return nil, fmt.Errorf("it ended: %s", bytes.TrimSpace(said.Bytes()))
		case <-ctx.Done():
			end()
			return nil, errors.New("it did not become ready")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return end, nil
}

// freeAddress is below the ports that the kernel gives to outgoing connections.
func freeAddress() (string, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(17000))
		l, err := net.Listen("tcp", address)
		if err == nil {
			l.Close()
			return address, nil
		}
	}
	return "", errors.New("no free port between 15000 and 32000")
}
