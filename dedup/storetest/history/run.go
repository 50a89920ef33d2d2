package history

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"oneticket/dedup"
)

// patience bounds every wait of a run.
const patience = time.Minute

// Options say what a run is made of.
type Options struct {
	Clients []dedup.Store // each makes one call after another; several may be of one process
	Keys    int           // default 4
	Calls   int           // in all; default 2000, and 20000 with ONETICKET_SOAK=1
	Timeout time.Duration // of each call; default 5 s

	// Disturb is called so many times, spread over the run, while the clients
	// go on: it kills the store and brings it back, or freezes it. Its error
	// ends the run. Nil is a quiet run.
	Disturb func() error
	Times   int // default 4, and 20 with ONETICKET_SOAK=1

	Seed uint64 // of a run that is to be made again; default random
}

func (o Options) withDefaults() Options {
	soak := 1
	if os.Getenv("ONETICKET_SOAK") == "1" {
		soak = 10
	}
	if o.Keys <= 0 {
		o.Keys = 4
	}
	if o.Calls <= 0 {
		o.Calls = 2000 * soak
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Times <= 0 {
		o.Times = min(4*soak, 20)
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	return o
}

// A History is what the clients asked and were told.
type History struct {
	Seed       uint64
	Won, Lost  int // claims
	Conflicts  int
	Unknown    int
	operations []porcupine.Operation
}

// Run records a history and fails the test when it is not linearizable, or
// when it shows too little.
func Run(t testing.TB, o Options) {
	t.Helper()
	h, err := Record(t.Context(), o)
	if err != nil {
		t.Fatalf("seed %d: %v", h.Seed, err)
	}
	t.Logf("seed %d: %d calls, %d claims won, %d lost, %d conflicts, %d of unknown outcome",
		h.Seed, len(h.operations), h.Won, h.Lost, h.Conflicts, h.Unknown)
	if h.Won == 0 || h.Lost == 0 || h.Conflicts == 0 || (o.Disturb != nil && h.Unknown == 0) {
		t.Error("the clients never met: this history shows nothing")
	}
	if err := h.Check(t.ArtifactDir()); err != nil {
		t.Error(err)
	}
}

// Record makes the calls. Its error is a record that no call can leave, or a
// store that does not come back.
func Record(ctx context.Context, o Options) (*History, error) {
	o = o.withDefaults()
	r := &recorder{o: o, start: time.Now(), h: &History{Seed: o.Seed}, scope: fmt.Sprint(rand.Uint64())}
	var working, disturbing sync.WaitGroup
	errs := make([]error, len(o.Clients)+1)
	for i, store := range o.Clients {
		c := &client{
			recorder: r, name: fmt.Sprint("c", i), store: store,
			r: rand.New(rand.NewPCG(o.Seed, uint64(i))), known: map[int]state{},
		}
		working.Go(func() { errs[i] = c.work(ctx) })
	}
	if o.Disturb != nil {
		disturbing.Go(func() { errs[len(o.Clients)] = r.disturb(ctx) })
	}
	working.Wait()
	r.finish()
	disturbing.Wait()
	return r.h, errors.Join(errs...)
}

// Check tells whether the history is linearizable; where it is not, a picture
// of it is left in the folder.
func (h *History) Check(folder string) error {
	result, info := porcupine.CheckOperationsVerbose(model, h.operations, 2*patience)
	switch result {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("seed %d: no end of the check in %v: make the run smaller", h.Seed, 2*patience)
	}
	picture := filepath.Join(folder, "history.html")
	err := porcupine.VisualizePath(model, info, picture)
	return errors.Join(fmt.Errorf("seed %d: the history of %d calls is not linearizable, see %s", h.Seed, len(h.operations), picture), err)
}

// A recorder is what the clients of a run share.
type recorder struct {
	o     Options
	start time.Time
	scope string // of the refs, so that runs on the same store do not meet

	mu       sync.Mutex
	h        *History
	finished bool
}

func (r *recorder) now() int64 { return int64(time.Since(r.start)) }

func (r *recorder) ref(key int) dedup.Ref {
	return dedup.Ref{Rule: "history", Scope: r.scope, Key: dedup.Key(fmt.Sprint("idem:", key))}
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.h.operations)
}

func (r *recorder) more() bool { return r.count() < r.o.Calls }

func (r *recorder) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
}

func (r *recorder) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finished
}

func (r *recorder) note(c *client, asked call, a answer, began, ended int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case a.unknown:
		ended = math.MaxInt64
		r.h.Unknown++
	case asked.op == claim && a.yes:
		r.h.Won++
	case asked.op == claim:
		r.h.Lost++
	case asked.op == swap && !a.yes:
		r.h.Conflicts++
	}
	r.h.operations = append(r.h.operations, porcupine.Operation{
		ClientId: len(r.h.operations), Input: asked, Call: began, Output: a, Return: ended,
	})
}

// disturb calls Disturb whenever the next part of the calls has been made.
func (r *recorder) disturb(ctx context.Context) error {
	for i := range r.o.Times {
		for r.count() < r.o.Calls*(i+1)/(r.o.Times+1) {
			if r.over() || ctx.Err() != nil {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
		if err := r.o.Disturb(); err != nil {
			return fmt.Errorf("disturbing: %w", err)
		}
	}
	return nil
}
