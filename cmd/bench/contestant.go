package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// A contestant is one way from a client to the ticket system.
type contestant struct {
	name    string
	address string // that stands in for the ticket system
	admin   string // of oneticket; empty: there is none
}

// stores are what oneticket is measured on: the block of the configuration. A
// new store is a line.
var stores = []struct {
	name  string
	block func(context.Context, *stage) (string, error)
}{
	{"sqlite", func(context.Context, *stage) (string, error) { return "", nil }},
	{"redis", redisBlock},
	{"postgres", postgresBlock},
}

// A stage has everything that runs.
type stage struct {
	dir         string
	desk        *desk
	say         func(format string, args ...any)
	contestants []contestant
	ends        []func() // in reverse
}

func (s *stage) close() {
	for i := len(s.ends) - 1; i >= 0; i-- {
		s.ends[i]()
	}
	s.desk.Close()
}

// start starts every contestant. They stay up all the while.
func (s *stage) start(ctx context.Context) error {
	if err := s.startPlain(ctx); err != nil {
		return err
	}
	if err := s.startPassing(ctx); err != nil {
		return err
	}
	binary, err := buildOneticket(ctx, s.dir)
	if err != nil {
		return err
	}
	for _, store := range stores {
		block, err := store.block(ctx, s)
		if err == nil {
			err = s.startOneticket(ctx, binary, store.name, block)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folder makes a folder of the stage.
func (s *stage) folder(name string) (string, error) {
	path := filepath.Join(s.dir, name)
	return path, os.Mkdir(path, 0o700)
}

// findEnvoy looks where ONETICKET_ENVOY says, then for .tools/bin/envoy in this
// folder and those above it.
func findEnvoy() (string, error) {
	if path := os.Getenv("ONETICKET_ENVOY"); path != "" {
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ".tools", "bin", "envoy")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no Envoy: run `make tools`, or set ONETICKET_ENVOY")
		}
	}
}
