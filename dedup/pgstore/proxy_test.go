package pgstore_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"testing"
)

// A proxy stands between a store and its server. It counts round trips and
// loses replies.
type proxy struct {
	addr string

	mu    sync.Mutex
	to    string
	trips int
	kept  int  // see statements
	ways  int  // how often all were cut off
	lose  int  // so many replies to calls are still to be lost,
	hang  bool // in silence; else with their connection
}

func proxyTo(t testing.TB, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String(), to: server}
	var conns sync.WaitGroup
	t.Cleanup(func() { l.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { p.carry(t.Context(), client) })
		}
	})
	return p
}

// carry carries one connection until either side closes it, or the test ends.
func (p *proxy) carry(ctx context.Context, client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	to, way := p.to, p.ways
	p.mu.Unlock()
	upstream, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer upstream.Close()
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	one := &carried{proxy: p, way: way}
	go func() {
		defer upstream.Close()
		pump(client, upstream, one.asks)
	}()
	pump(upstream, client, one.answers)
}

// pump moves bytes as long as see, which has seen them first, says so.
func pump(from, to net.Conn, see func([]byte) (deliver, goOn bool)) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		deliver, goOn := see(buffer[:n])
		if !goOn {
			return
		}
		if deliver {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
}

// carried is one connection.
type carried struct {
	*proxy
	way    int
	asking bool // the client spoke last
	binds  bool // and made a call
}

// asks counts a round trip when the client speaks after the server did.
func (c *carried) asks(b []byte) (deliver, goOn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asking {
		c.trips++
		c.binds = false
	}
	c.asking = true
	c.binds = c.statements(b) || c.binds
	return c.way == c.ways, true
}

func (c *carried) answers([]byte) (deliver, goOn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = false
	if !c.binds || c.lose == 0 {
		return c.way == c.ways, true
	}
	c.lose--
	return false, c.hang
}

// loses makes the proxy lose the next replies to statements.
func (p *proxy) loses(replies int, hang bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose, p.hang = replies, hang
}

// lost reports whether all that should be lost was.
func (p *proxy) lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lose == 0
}

// during counts the round trips of a call.
func (p *proxy) during(call func()) int {
	count := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.trips
	}
	before := count()
	call()
	return count() - before
}

// messages are the messages in the bytes, which begin with one, by their kind;
// the last may be cut off.
func messages(b []byte, see func(kind byte, body []byte)) {
	for len(b) >= 5 {
		length := int(binary.BigEndian.Uint32(b[1:5])) + 1
		if length < 5 {
			return
		}
		see(b[0], b[5:min(length, len(b))])
		b = b[min(length, len(b)):]
	}
}

// statements notes what a pooler that gives each transaction another connection
// would have to know of: statements with a name, and
// settings.
func (p *proxy) statements(b []byte) (binds bool) {
	messages(b, func(kind byte, body []byte) {
		switch {
		case kind == 'B':
			binds = true
		case kind == 'P' && len(body) > 0 && body[0] != 0:
			p.kept++
		case kind == 'Q' && bytes.HasPrefix(body, []byte("SET ")) && !bytes.HasPrefix(body, []byte("SET LOCAL ")):
			p.kept++
		}
	})
	return binds
}

// keeps is how often something was to be kept in a connection.
func (p *proxy) keeps() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept
}

// leadTo leads new connections to another server.
func (p *proxy) leadTo(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = server
}

// cutOff lets nothing pass any more on the connections that there are, and
// closes none.
func (p *proxy) cutOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ways++
}
