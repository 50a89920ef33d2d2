package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patience bounds every exchange.
const patience = 90 * time.Second

// errAborted: the client left, as the case asked.
var errAborted = errors.New("the client left")

// A client keeps one connection for each address and sends raw HTTP/1 over it.
type client struct {
	mu    sync.Mutex
	conns map[string]*conn
}

type conn struct {
	net.Conn
	r *bufio.Reader
}

// take returns a connection of its own: the kept one, or a new one.
func (c *client) take(addr string) (*conn, error) {
	c.mu.Lock()
	kept := c.conns[addr]
	delete(c.conns, addr)
	c.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	nc, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &conn{nc, bufio.NewReader(nc)}, nil
}

// keep puts a connection back for the next request.
func (c *client) keep(addr string, k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		c.conns = map[string]*conn{}
	}
	if c.conns[addr] != nil {
		k.Close()
		return
	}
	c.conns[addr] = k
}

func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.conns {
		k.Close()
	}
	c.conns = nil
}

// do sends one request and reads its answer.
func (c *client) do(addr string, s *send) (*answer, error) {
	k, err := c.take(addr)
	if err != nil {
		return nil, err
	}
	wait := patience
	if s.Abort > 0 {
		wait = s.Abort
	}
	k.SetDeadline(time.Now().Add(wait))
	a, err := k.exchange(s)
	if err != nil {
		k.Close()
		if s.Abort > 0 && timeUp(err) {
			return nil, errAborted
		}
		return nil, err
	}
	if staysOpen(s, a) {
		c.keep(addr, k)
	} else {
		k.Close()
	}
	return a, nil
}

func timeUp(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

func staysOpen(s *send, a *answer) bool {
	return strings.HasSuffix(s.Line, "HTTP/1.1") && strings.HasPrefix(a.Line, "HTTP/1.1") && s.Abort == 0 &&
		!strings.EqualFold(first(a.Header, "Connection"), "close") && !strings.EqualFold(first(s.Header, "Connection"), "close") &&
		(framed(a) || bodiless(s, a.Status))
}

func framed(a *answer) bool {
	return first(a.Header, "Content-Length") != "" || chunked(a)
}

func chunked(a *answer) bool {
	return strings.EqualFold(first(a.Header, "Transfer-Encoding"), "chunked")
}

// exchange writes the request, waiting for 100 Continue where the client says
// so, and reads the answer.
func (k *conn) exchange(s *send) (*answer, error) {
	head, body := s.bytes()
	if !strings.EqualFold(first(s.Header, "Expect"), "100-continue") {
		if _, err := k.Write(append(head, body...)); err != nil {
			return nil, err
		}
		return k.answer(s)
	}
	if _, err := k.Write(head); err != nil {
		return nil, err
	}
	a, err := k.one(s)
	if err != nil || a.Status != http.StatusContinue {
		return a, err
	}
	if _, err := k.Write(body); err != nil {
		return nil, err
	}
	return k.answer(s)
}

// bytes is the request as it goes over the wire.
func (s *send) bytes() (head, body []byte) {
	var h, b bytes.Buffer
	h.WriteString(s.Line + "\r\n")
	for _, l := range s.Header {
		h.WriteString(l.Name + ": " + l.Value + "\r\n")
	}
	own := first(s.Header, "Content-Length") != "" || first(s.Header, "Transfer-Encoding") != ""
	method, _, _ := strings.Cut(s.Line, " ")
	switch {
	case s.Chunk > 0:
		if first(s.Header, "Transfer-Encoding") == "" {
			h.WriteString("Transfer-Encoding: chunked\r\n")
		}
		writeChunks(&b, s.Body, s.Chunk, s.Trailer)
	case own || len(s.Body) == 0 && oneOf(method, "GET", "HEAD", "DELETE", "OPTIONS"):
		b.Write(s.Body)
	default:
		fmt.Fprintf(&h, "Content-Length: %d\r\n", len(s.Body))
		b.Write(s.Body)
	}
	h.WriteString("\r\n")
	return h.Bytes(), b.Bytes()
}

// answer reads the final answer.
func (k *conn) answer(s *send) (*answer, error) {
	for {
		a, err := k.one(s)
		if err != nil || a.Status >= 200 || a.Status == http.StatusSwitchingProtocols {
			return a, err
		}
	}
}

// one reads one answer, also an interim one.
func (k *conn) one(s *send) (*answer, error) {
	line, err := k.line()
	if err != nil {
		return nil, err
	}
	words := strings.SplitN(line, " ", 3)
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/1.") {
		return nil, fmt.Errorf("%q is no status line", line)
	}
	a := &answer{Line: line}
	if a.Status, err = strconv.Atoi(words[1]); err != nil {
		return nil, fmt.Errorf("%q is no status line", line)
	}
	if a.Header, err = k.header(); err != nil {
		return nil, err
	}
	a.Body, err = k.body(s, a)
	return a, err
}

func (k *conn) line() (string, error) {
	l, err := k.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimRight(l, "\r\n"), nil
}

func (k *conn) header() ([]headerLine, error) {
	var out []headerLine
	for {
		l, err := k.line()
		if err != nil || l == "" {
			return out, err
		}
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			return nil, fmt.Errorf("%q is no header line", l)
		}
		out = append(out, headerLine{name, strings.TrimSpace(value)})
	}
}

func bodiless(s *send, status int) bool {
	return strings.HasPrefix(s.Line, "HEAD ") || status < 200 || status == http.StatusNoContent || status == http.StatusNotModified
}

func (k *conn) body(s *send, a *answer) ([]byte, error) {
	if bodiless(s, a.Status) {
		return nil, nil
	}
	if chunked(a) {
		body, err := io.ReadAll(httputil.NewChunkedReader(k.r))
		if err != nil {
			return nil, err
		}
		_, err = k.header() // trailers
		return body, err
	}
	length := first(a.Header, "Content-Length")
	if length == "" {
		return io.ReadAll(k.r)
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("content-length %q is no number", length)
	}
	body := make([]byte, n)
	_, err = io.ReadFull(k.r, body)
	return body, err
}
