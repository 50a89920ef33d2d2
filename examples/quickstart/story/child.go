package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// grace is how long a child may take to end after a signal: more than oneticket
// allows itself for what is under way.
const grace = 45 * time.Second

// A child is a started program with its output in a file. It leads a process
// group of its own, so that what it started ends with it.
type child struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{} // closed when it has ended
}

// startChild starts the program with env added to the environment. Its output
// is added to the file log.
func startChild(log string, env []string, program string, args ...string) (*child, error) {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = f, f
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, log: log, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is seen by what it did
		close(c.ended)
	}()
	return c, nil
}

// signal sends sig to the program alone and waits for its end.
func (c *child) signal(sig syscall.Signal) error {
	if err := c.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.ended:
		return nil
	case <-time.After(grace):
		return errors.New(c.cmd.Path + " does not end after " + sig.String())
	}
}

// end makes sure that the program and all of its group are gone.
func (c *child) end() {
	_ = c.signal(syscall.SIGTERM)
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // the group: empty when all went well
	<-c.ended
}

// tail gives the last lines of the program's output.
func (c *child) tail(lines int) string {
	data, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
