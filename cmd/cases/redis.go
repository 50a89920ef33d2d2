package main

import (
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"time"
)

// A redisServer is a shared store that a case may stop.
type redisServer struct {
	addr string
	dir  string
	cmd  *exec.Cmd
	done chan struct{}
}

func (s *redisServer) start() error {
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	s.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", s.dir, "--save", "", "--appendonly", "yes")
	s.cmd.SysProcAttr = child()
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		cmd.Wait()
		close(done)
	}(s.cmd, s.done)
	for deadline := time.Now().Add(startPatience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.addr); err == nil {
			c.Close()
			return nil
		}
	}
	return fmt.Errorf("store: %s does not answer", s.addr)
}

// stop ends the server; its data stay.
func (s *redisServer) stop() error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(startPatience / 4):
		s.cmd.Process.Kill()
		<-s.done
	}
	s.cmd = nil
	return nil
}
