package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kill ends the server at once, as a crash does, and waits for its end.
func (s *Server) Kill() { s.signal(syscall.SIGQUIT) }

func (s *Server) signal(signal syscall.Signal) {
	s.mu.Lock()
	cmd := s.cmd
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	// One that is frozen does not see its end.
	for _, pid := range append([]int{cmd.Process.Pid}, children(cmd.Process.Pid)...) {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	_ = cmd.Process.Signal(signal)
	late := time.AfterFunc(Patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
}

// Freeze stops all of the server's processes without closing a connection.
func (s *Server) Freeze() (thaw func()) {
	s.mu.Lock()
	postmaster := s.cmd.Process.Pid
	s.mu.Unlock()
	_ = syscall.Kill(postmaster, syscall.SIGSTOP) // makes no more of them
	frozen := append(children(postmaster), postmaster)
	for _, pid := range frozen {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	return func() {
		for _, pid := range frozen {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// children are the processes that the process has started.
func children(of int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(fields) > 1 && fields[1] == strconv.Itoa(of) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// KillBackend kills the process of one connection. PostgreSQL ends all others
// with it, and recovers.
func (s *Server) KillBackend() error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.SocketURL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	pid := 0
	err = conn.QueryRow(ctx, "SELECT pid FROM pg_stat_activity WHERE application_name = 'oneticket' AND backend_type = 'client backend' ORDER BY random() LIMIT 1").Scan(&pid)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	_, _ = conn.Exec(ctx, "SELECT pg_sleep(60)") // ends with the others
	return s.answers()
}
