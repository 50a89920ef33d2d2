package main_test

import (
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A troubledRedis is a server that can be brought into every kind of trouble,
// behind a line that can be cut. What it has written survives.
type troubledRedis struct {
	t    *testing.T
	dir  string
	port string
	cmd  *exec.Cmd
	line *line
}

func newTroubledRedis(t *testing.T) *troubledRedis {
	t.Helper()
	_, port, _ := strings.Cut(freeAddress(t), ":")
	r := &troubledRedis{t: t, dir: t.TempDir(), port: port, line: newLine(t, "127.0.0.1:"+port)}
	r.start()
	t.Cleanup(r.kill)
	return r
}

func (r *troubledRedis) start() {
	r.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		r.t.Fatal("no redis-server: run `make services`, or apt-get install redis-server")
	}
	r.cmd = exec.Command(path, "--port", r.port, "--bind", "127.0.0.1", "--dir", r.dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--loglevel", "warning")
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	waitFor(r.t, "redis", func() bool { return r.said("ping") == "PONG" })
}

func (r *troubledRedis) kill() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

func (r *troubledRedis) signal(s syscall.Signal) {
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Error(err)
	}
}

// said is what the server answers to a command, past the line.
func (r *troubledRedis) said(args ...string) string {
	out, _ := exec.Command("redis-cli", append([]string{"-p", r.port}, args...)...).Output() // an error is an answer that nobody expects
	return strings.TrimSpace(string(out))
}

func (r *troubledRedis) obeys(args ...string) {
	r.t.Helper()
	if said := r.said(args...); said != "OK" {
		r.t.Errorf("redis %q: %q", args, said)
	}
}

// A trouble begins and ends.
type trouble struct {
	name       string
	begin, end func()
}

func (r *troubledRedis) troubles() []trouble {
	return []trouble{
		{"killed", r.kill, r.start},
		{"frozen", func() { r.signal(syscall.SIGSTOP) }, func() { r.signal(syscall.SIGCONT) }},
		{"filled",
			func() { r.obeys("config", "set", "maxmemory", strconv.Itoa(1<<20)) },
			func() { r.obeys("config", "set", "maxmemory", "0") }},
		{"read-only",
			func() { r.obeys("replicaof", "127.0.0.1", "1") },
			func() { r.obeys("replicaof", "no", "one") }},
		{"cut off", r.line.cut, r.line.mend},
	}
}

func (r *troubledRedis) block() string {
	return fmt.Sprintf("store \"redis\" {\n url = %q\n}\n", "redis://"+r.line.address)
}

// A line carries connections to a server until it is cut: then what is open
// breaks, and what is new is refused.
type line struct {
	t       *testing.T
	address string
	server  string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
}

func newLine(t *testing.T, server string) *line {
	l := &line{t: t, address: freeAddress(t), server: server, conns: map[net.Conn]bool{}}
	l.mend()
	t.Cleanup(l.cut)
	return l
}

func (l *line) mend() {
	var listener net.Listener
	waitFor(l.t, "the port of the line", func() (free bool) {
		var err error
		listener, err = net.Listen("tcp", l.address)
		return err == nil
	})
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.carry(conn)
		}
	}()
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener.Close()
	for conn := range l.conns {
		conn.Close()
	}
	clear(l.conns)
}

func (l *line) carry(client net.Conn) {
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		client.Close()
		return
	}
	l.mu.Lock()
	l.conns[client], l.conns[server] = true, true
	l.mu.Unlock()
	pump := func(to, from net.Conn) {
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
				break
			}
		}
		to.Close()
		from.Close()
		l.mu.Lock()
		delete(l.conns, from)
		l.mu.Unlock()
	}
	go pump(server, client)
	pump(client, server)
}
