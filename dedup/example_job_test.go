package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"oneticket/dedup"
)

// A job as a queue delivers it: more than once, now and then to two workers.
type job struct {
	Key  string // the sender's own; empty = none
	Type string
	Data string
}

// key is the job's own, or one made of what it is: equal jobs are one.
func (j job) key() dedup.Key {
	if j.Key != "" {
		return dedup.Key(j.Key)
	}
	return dedup.JobKey(j.Type, []byte(j.Data))
}

// A worker does each job once, whoever else works on the same store.
type worker struct {
	out   io.Writer
	once  *dedup.Once
	fails int // so many runs fail
}

func newWorker(out io.Writer, store dedup.Store) *worker {
	return &worker{out: out, once: dedup.NewOnce(dedup.OnceOptions{Store: store, Name: "jobs", Keep: 7 * 24 * time.Hour})}
}

func (w *worker) work(ctx context.Context, j job) {
	result, replayed, err := w.once.Do(ctx, j.key(), func(context.Context) ([]byte, error) {
		if w.fails > 0 {
			w.fails--
			return nil, errors.New("printer is out of paper")
		}
		fmt.Fprintf(w.out, "  printing %s\n", j.Data)
		return []byte("printed"), nil
	})
	fmt.Fprintf(w.out, "%s: %q replayed=%t err=%v\n", j.Type, result, replayed, err)
}

// jobWorker is the story; the tests tell it over every store.
func jobWorker(out io.Writer, store dedup.Store) {
	ctx := context.Background()
	w, other := newWorker(out, store), newWorker(out, store)
	defer w.once.Close()
	defer other.once.Close()

	invoice := job{Key: "invoice-7", Type: "invoice", Data: `{"no":7}`}
	w.work(ctx, invoice)
	other.work(ctx, invoice) // delivered again, to another worker

	w.work(ctx, job{Type: "label", Data: `{"to":"Ada","copies":1}`})
	w.work(ctx, job{Type: "label", Data: `{"copies": 1, "to": "Ada"}`}) // the same, written in another way

	w.fails = 1 // a failed run is not kept
	report := job{Type: "report", Data: `"monthly"`}
	w.work(ctx, report)
	w.work(ctx, report)
	w.work(ctx, report)
}

// A job worker: each job has its own key or one made of its type and data, and
// a run that failed is not kept.
func Example_jobWorker() {
	store := embedded()
	defer store.Close()
	jobWorker(os.Stdout, store)
	// Output:
	//   printing {"no":7}
	// invoice: "printed" replayed=false err=<nil>
	// invoice: "printed" replayed=true err=<nil>
	//   printing {"to":"Ada","copies":1}
	// label: "printed" replayed=false err=<nil>
	// label: "printed" replayed=true err=<nil>
	// report: "" replayed=false err=printer is out of paper
	//   printing "monthly"
	// report: "printed" replayed=false err=<nil>
	// report: "printed" replayed=true err=<nil>
}
