package redisstore_test

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// A proxy stands between a store and its server. It counts round trips and
// loses replies.
type proxy struct {
	addr string

	mu    sync.Mutex
	trips int
	lose  int  // so many replies to a script are still to be lost,
	hang  bool // in silence; else with their connection
}

func proxyTo(t testing.TB, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String()}
	var conns sync.WaitGroup
	t.Cleanup(func() { l.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { p.carry(client, server) })
		}
	})
	return p
}

// carry carries one connection until either side closes it.
func (p *proxy) carry(client net.Conn, server string) {
	defer client.Close()
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer upstream.Close()
	one := &carried{proxy: p}
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
	asking bool // the client spoke last
	script bool // and called a script
}

// asks counts a round trip when the client speaks after the server did.
func (c *carried) asks(b []byte) (deliver, goOn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asking {
		c.trips++
		c.script = false
	}
	c.asking = true
	c.script = c.script || bytes.Contains(bytes.ToLower(b), []byte("evalsha"))
	return true, true
}

func (c *carried) answers([]byte) (deliver, goOn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = false
	if !c.script || c.lose == 0 {
		return true, true
	}
	c.lose--
	return false, c.hang
}

// loses makes the proxy lose the next replies to scripts.
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
