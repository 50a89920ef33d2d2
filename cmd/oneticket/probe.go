package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"oneticket/config"
)

// probeListens finds out, before Envoy is started, whether the addresses can
// be listened on: Envoy would share a port with another Envoy, and says of
// others what only its operators understand. One that is taken may be that of
// the Envoy of a oneticket that was killed a moment ago, which is given time to
// go.
func probeListens(ctx context.Context, cfg *config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, predecessorGone)
	defer cancel()
	var errs []error
	for _, b := range cfg.Backends {
		if b.Listen == "" {
			continue
		}
		l, err := listenOnce(ctx, b.Listen)
		if err != nil {
			errs = append(errs, fmt.Errorf("backend %q: listen %s %s (%s)", b.Name, b.Listen, notListening(err), b.ListenAt))
			continue
		}
		if err := l.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

const (
	predecessorGone = 5 * time.Second
	lookAgain       = 50 * time.Millisecond
)

// listenOnce listens on the address, as soon as nobody else does or ctx ends.
func listenOnce(ctx context.Context, address string) (net.Listener, error) {
	for {
		l, err := net.Listen("tcp", address)
		if !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(lookAgain):
		}
	}
}

// notListening says why an address cannot be listened on, and what to do.
func notListening(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "is taken by another program: set another address"
	case errors.Is(err, syscall.EACCES):
		return "is refused to this user (ports below 1024 are the system's): set a higher one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "is no address of this machine: set one that is, such as 127.0.0.1:8081"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Sprintf("cannot be listened on: %v", err)
}
