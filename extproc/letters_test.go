package extproc_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"oneticket/dedup"
	"oneticket/extproc"
)

// A letterBox keeps in words what it is told.
type letterBox struct {
	mu    sync.Mutex
	said  []string
	last  extproc.Letter
	alive bool
}

func (b *letterBox) Put(_ context.Context, l extproc.Letter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = l
	b.said = append(b.said, fmt.Sprint("put ", l.Outcome, " ", l.Status, " ", l.Episode))
	return nil
}

func (b *letterBox) Remove(_ context.Context, _ dedup.Ref, episode int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, fmt.Sprint("removed ", episode))
	return nil
}

func (b *letterBox) Replayable(context.Context, string, dedup.Ref, int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.alive
}

func (b *letterBox) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.said)
}

func (b *letterBox) has(t *testing.T, what string) {
	t.Helper()
	if !slices.Contains(b.all(), what) {
		t.Errorf("the letters are %q, want %q", b.all(), what)
	}
}

func (b *letterBox) eventually(t *testing.T, what string) {
	t.Helper()
	eventually(t, what, func() bool { return slices.Contains(b.all(), what) })
}
