package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startPatience bounds how long a process may take to be ready, and to end.
const startPatience = 60 * time.Second

// A product is one running oneticket with its Envoy.
type product struct {
	admin  string
	socket string            // of the gRPC side
	listen map[string]string // the address that stands in for a backend, by backend

	command []string
	env     []string
	dir     string
	cmd     *exec.Cmd
	log     *logTail
	ended   chan struct{}
}

// start runs the process and waits until it is ready.
func (p *product) start(ctx context.Context) error {
	p.cmd = exec.Command(p.command[0], p.command[1:]...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Dir = p.dir
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = child()
	p.ended = make(chan struct{})
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("oneticket: %w", err)
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	if err := p.ready(ctx); err != nil {
		p.stop()
		return fmt.Errorf("oneticket: %w: %s", err, p.log.last())
	}
	return nil
}

// ready polls until the process says that it is, and its ports answer.
func (p *product) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		if p.isReady() {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return errors.New("it did not become ready")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *product) isReady() bool {
	res, err := http.Get("http://" + p.admin + "/ready")
	if err != nil {
		return false
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return false
	}
	for _, addr := range p.listen {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return false
		}
		c.Close()
	}
	return true
}

// stop ends the process, gently at first.
func (p *product) stop() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(startPatience / 4):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// A logTail keeps the end of what a process wrote.
type logTail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const logKept = 64 << 10

func (l *logTail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(b)
	if n := l.buf.Len(); n > 2*logKept {
		l.buf.Next(n - logKept)
	}
	return len(b), nil
}

func (l *logTail) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// last is the last lines, for an error.
func (l *logTail) last() string {
	lines := strings.Split(strings.TrimSpace(l.text()), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], " / ")
}
