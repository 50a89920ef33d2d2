package main_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// slowTo is an address that leads to another one, and holds back whatever comes
// from there for so long.
func slowTo(t *testing.T, address string, delay time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				near.Close()
				continue
			}
			go func() { _, _ = io.Copy(far, near); far.Close() }() // ends with its connection
			go func() { _, _ = io.Copy(near, &late{far, delay}); near.Close() }()
		}
	}()
	return l.Addr().String()
}

type late struct {
	from  io.Reader
	delay time.Duration
}

func (l *late) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	time.Sleep(l.delay)
	return n, err
}

// TestAStoreThatIsFarAwayMakesNoDoubles: each of its answers takes 200 ms.
func TestAStoreThatIsFarAwayMakesNoDoubles(t *testing.T) {
	d := newDesk(t)
	d.delay.Store(int64(50 * time.Millisecond))
	block := fmt.Sprintf("store \"redis\" {\n url = %q\n timeout = \"5s\"\n}\n", "redis://"+slowTo(t, startRedis(t), 200*time.Millisecond))
	s := newSidecar(t, d, "", block)
	s.start()
	client := newClient(t)
	const faults, each = 5, 20
	var all sync.WaitGroup
	for i := range faults * each {
		all.Go(func() {
			element := fmt.Sprint("ne-", i%faults)
			if a := s.post(client, fault(element, i)); a.status != 201 || !slices.Contains(d.of(element), a.ticket()) {
				t.Errorf("client %d saw %d %q", i, a.status, a.body)
			}
		})
	}
	all.Wait()
	if n := d.creates.Load(); n != faults {
		t.Errorf("%d tickets for %d faults", n, faults)
	}
	if n := s.metric("oneticket_decisions_total", `decision="suppress"`); n != faults*(each-1) {
		t.Errorf("%v were suppressed, want %d", n, faults*(each-1))
	}
}
