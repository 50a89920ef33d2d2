package main

import (
	"context"
	"strings"
	"testing"
)

// TestAnInterruptedStorySaysNoMore than that it was interrupted.
func TestAnInterruptedStorySaysNoMore(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out, errs strings.Builder
	status := run(ctx, &out, &errs, []string{"-ticketsystem", "/bin/true", "-oneticket", "/bin/true"})
	if status != 1 || errs.String() != "demo: interrupted\n" {
		t.Errorf("status %d, %q", status, errs.String())
	}
}
