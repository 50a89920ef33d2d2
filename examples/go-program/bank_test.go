package main_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A bank counts what it has charged, by the order's text.
type bank struct {
	*httptest.Server
	mu      sync.Mutex
	charged map[string]int
	reached chan string   // the orders that hang
	goOn    chan struct{} // closed: they go on
}

func newBank(t *testing.T) *bank {
	b := &bank{charged: map[string]int{}, reached: make(chan string, 16), goOn: make(chan struct{})}
	b.Server = httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.Close)
	t.Cleanup(b.release)
	return b
}

func (b *bank) release() {
	select {
	case <-b.goOn:
	default:
		close(b.goOn)
	}
}

func (b *bank) serve(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	order := string(text)
	b.mu.Lock()
	b.charged[order]++
	n := b.charged[order]
	b.mu.Unlock()
	switch {
	case strings.Contains(order, "poor") && n == 1:
		http.Error(w, "no", http.StatusPaymentRequired)
		return
	case strings.Contains(order, "silent"):
		panic(http.ErrAbortHandler) // the money has moved, and nobody hears of it
	case strings.Contains(order, "slow"):
		b.reached <- order
		<-b.goOn
	}
	fmt.Fprintf(w, "receipt %d", n)
}

func (b *bank) of(order string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.charged[order]
}

// freePort is below the ports that the kernel gives to outgoing connections.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := 15000 + rand.IntN(17000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return fmt.Sprint(port)
		}
	}
	t.Fatal("no free port between 15000 and 32000")
	return ""
}
