package extproc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	stuck chan struct{} // until it is closed the disk does not answer; nil: it does
}

func (b *letterBox) Put(_ context.Context, l extproc.Letter) error {
	if b.stuck != nil {
		<-b.stuck
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = l
	b.said = append(b.said, fmt.Sprint("put ", l.Outcome, " ", l.Status, " ", l.Episode))
	return nil
}

func (b *letterBox) NeverSent(_ context.Context, _ dedup.Ref, episode int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, fmt.Sprint("never sent ", episode))
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

// TestADiskThatDoesNotAnswerHoldsNobody: the client is told of its failure, and
// loudly everybody else that its letter may be missing; what the disk takes
// late is a letter all the same.
func TestADiskThatDoesNotAnswerHoldsNobody(t *testing.T) {
	t.Parallel()
	letters := &letterBox{stuck: make(chan struct{})}
	r, _ := newDeskRig(t, func(_ *rig, o *extproc.Options, _ *dedup.Policy) { o.Letters = letters })
	var all sync.WaitGroup
	for i := range 80 {
		all.Go(func() {
			p := r.proxy()
			body := strings.Replace(createBody, "db-07", fmt.Sprint("db-", i), 1)
			p.create(body, bot...)
			p.loses(body)
			p.gone()
		})
	}
	all.Wait()
	if n := r.count.of("letter", "faults", "false"); n != 80 {
		t.Errorf("%d are counted as perhaps lost, want all 80", n)
	}
	if got := letters.all(); len(got) != 0 {
		t.Errorf("kept %q", got)
	}
	close(letters.stuck)
	r.server.Drain(t.Context())
	if n := len(letters.all()); n != 64 {
		t.Errorf("%d are kept when the disk answers, want those that waited for it", n)
	}
}
