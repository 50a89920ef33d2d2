package envoy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A message is a request or an answer as its bytes were.
type message struct {
	start  string   // the request line or the status line
	header []string // the lines of the header
	body   string
}

// has reports whether one line of the header is exactly this.
func (m message) has(line string) bool {
	for _, l := range m.header {
		if l == line {
			return true
		}
	}
	return false
}

// value is the value of the header, whatever the case of its name.
func (m message) value(name string) (string, bool) {
	for _, l := range m.header {
		k, v, _ := strings.Cut(l, ":")
		if strings.EqualFold(k, name) {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// path of a request, without the query.
func (m message) path() string {
	fields := strings.Fields(m.start)
	if len(fields) < 2 {
		return ""
	}
	path, _, _ := strings.Cut(fields[1], "?")
	return path
}

func readMessage(r *bufio.Reader) (message, error) {
	var m message
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return m, err
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" && m.start != "":
			return m, m.readBody(r)
		case m.start == "":
			m.start = line
		default:
			m.header = append(m.header, line)
		}
	}
}

func (m *message) readBody(r *bufio.Reader) error {
	var body []byte
	var err error
	if coding, _ := m.value("transfer-encoding"); coding == "chunked" {
		body, err = io.ReadAll(httputil.NewChunkedReader(r))
		if err == nil {
			_, err = r.ReadString('\n')
		}
	} else if length, ok := m.value("content-length"); ok {
		n, _ := strconv.Atoi(length)
		body = make([]byte, n)
		_, err = io.ReadFull(r, body)
	}
	m.body = string(body)
	return err
}

// A backend is a small ticket system that shows its requests byte by byte.
type backend struct {
	listener net.Listener

	mu       sync.Mutex
	requests []message
	conns    int
	held     chan struct{} // the answer to /held waits for it
	scripts  map[string]func(net.Conn)
}

// on makes what the backend does after it has read a request with the path;
// then it hangs up.
func (b *backend) on(path string, script func(net.Conn)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scripts[path] = script
}

// says is a script that writes the bytes.
func says(answer string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, answer) }
}

const ticketAnswer = "HTTP/1.1 201 Ticket Made\r\nContent-Type: application/json\r\nX-ServiceNow-ID: INC1\r\n" +
	"Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 2\r\n\r\n{}"

func startBackend(t *testing.T, wrap func(net.Listener) net.Listener) *backend {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{listener: l, held: make(chan struct{}), scripts: map[string]func(net.Conn){}}
	if wrap != nil {
		l = wrap(l)
	}
	var conns sync.WaitGroup
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.mu.Lock()
			b.conns++
			b.mu.Unlock()
			conns.Go(func() { b.serve(c) })
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return b
}

func (b *backend) url(scheme string) string { return scheme + "://" + b.listener.Addr().String() }

func (b *backend) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		m, err := readMessage(r)
		if err != nil {
			return
		}
		b.mu.Lock()
		b.requests = append(b.requests, m)
		script := b.scripts[m.path()]
		b.mu.Unlock()
		if script != nil {
			script(c)
			return
		}
		switch m.path() {
		case "/hangs-up":
			return
		case "/held":
			<-b.held
		case "/dateless":
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
			continue
		case "/websocket":
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
			_, _ = io.Copy(c, r)
			return
		}
		if _, err = io.WriteString(c, ticketAnswer); err != nil {
			return
		}
	}
}

// got returns the requests with the path.
func (b *backend) got(path string) []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []message
	for _, m := range b.requests {
		if m.path() == path {
			found = append(found, m)
		}
	}
	return found
}

// only returns the one request with the path.
func (b *backend) only(t *testing.T, path string) message {
	t.Helper()
	found := b.got(path)
	if len(found) != 1 {
		t.Fatalf("%d requests for %s reached the backend, want 1", len(found), path)
	}
	return found[0]
}

// send writes the bytes to the address and reads one answer.
func send(t *testing.T, address, request string) message {
	t.Helper()
	c := dial(t, address)
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	m, err := readMessage(bufio.NewReader(c))
	if err != nil && err != io.EOF {
		t.Fatalf("%v after %+v", err, m)
	}
	return m
}

// dial connects until the test ends, with a bound for everything.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(60 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// post is a create with a JSON body and more lines of header.
func post(path, body string, header ...string) string {
	lines := append([]string{"POST " + path + " HTTP/1.1", "Host: 127.0.0.1:8081", "Content-Type: application/json",
		fmt.Sprint("Content-Length: ", len(body))}, header...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

// get is any other request.
func get(path string, header ...string) string {
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: 127.0.0.1:8081"}, header...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// status is the code of an answer.
func (m message) status() string {
	fields := strings.Fields(m.start)
	if len(fields) < 2 {
		return ""
	}
	return fields[1]
}
