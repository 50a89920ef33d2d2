package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// buildProduct builds oneticket for tests: its stores follow the false clock.
func buildProduct(ctx context.Context, dir string) (string, error) {
	bin := filepath.Join(dir, "oneticket")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "testclock", "-o", bin, "oneticket/cmd/oneticket")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build oneticket: %w: %s", err, bytes.TrimSpace(out))
	}
	return bin, nil
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
	for {
		path := filepath.Join(dir, ".tools", "bin", "envoy")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no Envoy: run `make tools`, or set ONETICKET_ENVOY")
		}
		dir = filepath.Dir(dir)
	}
}
