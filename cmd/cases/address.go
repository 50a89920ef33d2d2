package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// ports is where the search for a free port goes on. It stays below the range
// that outgoing connections take theirs from, so that a port that is free now
// is free when a process of the case binds it; two runners at one time begin at
// different places.
var ports struct {
	mu   sync.Mutex
	next int
}

const (
	firstPort = 12000
	lastPort  = 32000
)

// freeAddress finds a loopback port that nobody has, and gives none twice
// before all others.
func freeAddress() (string, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	if ports.next == 0 {
		ports.next = firstPort + rand.IntN(lastPort-firstPort)
	}
	for range lastPort - firstPort {
		addr := fmt.Sprintf("127.0.0.1:%d", ports.next)
		if ports.next++; ports.next == lastPort {
			ports.next = firstPort
		}
		if l, err := net.Listen("tcp", addr); err == nil {
			l.Close()
			return addr, nil
		}
	}
	return "", errors.New("no free port")
}
