package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// A port is one address at which a backend listens. It speaks HTTP/1.1 by
// hand, so that scripted answers go out as they are written.
type port struct {
	backend *backend
	addr    string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	serving  sync.WaitGroup
}

// open listens on a free loopback port, or again on the one it had.
func (p *port) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		return nil
	}
	if p.addr == "" {
		addr, err := freeAddress()
		if err != nil {
			return fmt.Errorf("backend: %w", err)
		}
		p.addr = addr
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("backend: %w", err)
	}
	p.listener, p.conns = l, map[net.Conn]bool{}
	p.serving.Go(func() { p.accept(l) })
	return nil
}

// close refuses connections and ends those that there are.
func (p *port) close() {
	p.mu.Lock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
}

func (p *port) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.listener != l {
			p.mu.Unlock()
			c.Close()
			return
		}
		p.conns[c] = true
		p.mu.Unlock()
		go p.serve(c)
	}
}

func (p *port) serve(c net.Conn) {
	defer func() {
		c.Close()
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
	}()
	br := bufio.NewReader(c)
	for {
		r, close, err := readRequest(br, c)
		if err != nil {
			return
		}
		a := p.backend.serve(r)
		if a == nil {
			reset(c)
			return
		}
		if writeAnswer(c, a) != nil || close || strings.EqualFold(first(a.Header, "Connection"), "close") {
			return
		}
	}
}

// readRequest reads one request with its body.
func readRequest(br *bufio.Reader, c io.Writer) (*request, bool, error) {
	r, err := http.ReadRequest(br)
	if err != nil {
		return nil, false, err
	}
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return nil, false, err
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false, err
	}
	return newRequest(r, body), r.Close, nil
}

// reset ends a connection with an RST; the caller closes it.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
}

// writeAnswer frames an answer as its own headers say.
func writeAnswer(w io.Writer, a *answer) error {
	var out bytes.Buffer
	out.WriteString(a.Line + "\r\n")
	for _, h := range a.Header {
		out.WriteString(h.Name + ": " + h.Value + "\r\n")
	}
	switch {
	case strings.EqualFold(first(a.Header, "Transfer-Encoding"), "chunked"):
		out.WriteString("\r\n")
		writeChunks(&out, a.Body, 4096, nil)
	case a.Status == http.StatusNoContent || a.Status == http.StatusNotModified || len(get(a.Header, "Content-Length")) > 0:
		out.WriteString("\r\n")
		out.Write(a.Body)
	default:
		fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n", len(a.Body))
		out.Write(a.Body)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// writeChunks writes a chunked body with its end.
func writeChunks(out *bytes.Buffer, body []byte, size int, trailer *headerLine) {
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(out, "%x\r\n", n)
		out.Write(body[:n])
		out.WriteString("\r\n")
		body = body[n:]
	}
	out.WriteString("0\r\n")
	if trailer != nil {
		out.WriteString(trailer.Name + ": " + trailer.Value + "\r\n")
	}
	out.WriteString("\r\n")
}
