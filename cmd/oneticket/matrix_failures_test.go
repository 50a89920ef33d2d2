package main_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A failure is one way in which the first create of a fault fails.
type failure struct {
	name    string
	commits bool         // there is a ticket all the same
	late    bool         // which is made when the caller has gone
	unmade  bool         // it says for sure that there is none
	cut     bool         // an answer had begun: the proxy says the rest itself, and nobody can say anything else
	place   *place       // where it happens, if not at the desk
	play    func(*visit) // what the desk does
}

// lateness is how long after its caller went a desk may make a ticket; settle
// of the rules is longer.
const lateness = 300 * time.Millisecond

func failures() []*failure {
	status := func(status int, headers ...string) func(*visit) {
		return func(v *visit) {
			for i := 0; i+1 < len(headers); i += 2 {
				v.w.Header().Set(headers[i], headers[i+1])
			}
			sayJSON(v.w, status, map[string]any{"error": map[string]string{"message": http.StatusText(status)}})
		}
	}
	raw := func(text string, reset bool) func(*visit) { return func(v *visit) { v.raw(text, reset) } }
	return []*failure{
		{name: "refused", unmade: true, place: &place{way: refusing}},
		{name: "refused for a moment", unmade: true, place: &place{way: refusing, heals: true}},
		{name: "no TLS", unmade: true, place: &place{way: withoutTLS}},
		{name: "no host", unmade: true, place: &place{way: nowhere}},
		{name: "closed at accept", place: &place{way: hangingUp}},
		{name: "closed at accept for a moment", place: &place{way: hangingUp, heals: true}},
		{name: "closed after reading", play: raw("", false)},
		{name: "closed after the commit", commits: true, play: raw("", false)},
		{name: "reset after the commit", commits: true, play: raw("", true)},
		{name: "500 after the commit", commits: true, play: status(500)},
		{name: "504 after the commit", commits: true, play: status(504)},
		{name: "silence", play: (*visit).away},
		{name: "slow beyond every timeout", commits: true, play: (*visit).away},
		{name: "half a header", commits: true, play: raw("HTTP/1.1 201 Created\r\nContent-Ty", false)},
		{name: "half a body", commits: true, cut: true, play: raw("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{\"result\":{\"sys_", false)},
		{name: "2xx without an id", commits: true, play: status(201)},
		{name: "2xx and a page", play: page},
		{name: "garbage", commits: true, play: raw("garbage\r\n\r\n", false)},
		{name: "429", unmade: true, play: status(429, "Retry-After", "1")},
		{name: "503 that says when", unmade: true, play: status(503, "Retry-After", "1")},
		{name: "503 that does not", play: status(503)},
		{name: "late commit", commits: true, late: true, play: func(v *visit) {
			v.away()
			time.Sleep(lateness)
			v.make()
		}},
	}
}

// page is what an instance that sleeps answers.
func page(v *visit) {
	v.w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(v.w, "<html><body>Your instance is waking up</body></html>") // whoever asked has gone
}

// A place is an address where the ticket system is not to be had: one for each
// kind of backend.
type place struct {
	way   func(t *testing.T, d *sickDesk) (url string, heal func())
	heals bool // it is well once every row has been told of its failure
}

// refusing is a port that is taken, so that nobody else gets it, and that
// nobody listens at.
func refusing(t *testing.T, d *sickDesk) (string, func()) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	socket := os.NewFile(uintptr(fd), "port")
	t.Cleanup(func() { socket.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}
	return "http://" + at.String(), func() {
		if err := syscall.Listen(fd, 128); err != nil {
			t.Error(err)
			return
		}
		l, err := net.FileListener(socket)
		if err != nil {
			t.Error(err)
			return
		}
		serve(t, d, l)
	}
}

func withoutTLS(t *testing.T, d *sickDesk) (string, func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, d, l)
	return "https://" + l.Addr().String(), nil
}

func nowhere(*testing.T, *sickDesk) (string, func()) { return "http://ticket.invalid", nil }

func hangingUp(t *testing.T, d *sickDesk) (string, func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	moody := &moodyListener{Listener: l}
	serve(t, d, moody)
	return "http://" + l.Addr().String(), func() { moody.well.Store(true) }
}

// A moodyListener hangs up on everybody until it is well.
type moodyListener struct {
	net.Listener
	well atomic.Bool
}

func (l *moodyListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || l.well.Load() {
			return c, err
		}
		c.Close()
	}
}

func serve(t *testing.T, d *sickDesk, l net.Listener) {
	s := httptest.NewUnstartedServer(d)
	s.Listener.Close()
	s.Listener, s.Config.ErrorLog = l, quiet
	s.Start()
	t.Cleanup(s.Close)
}
