// Command bench measures, in one run and side by side, what the filter costs:
// the same requests through Envoy alone, through Envoy with an ext_proc server
// that does nothing, and through oneticket on each store, all in front of the
// same ticket system, which answers at once. All traffic stays on this machine.
//
// The contestants take turns, second by second, so that what else the machine
// does meets all of them. Numbers of one run compare; those of two runs or two
// machines do not.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A plan says how much is measured.
type plan struct {
	clients int
	rounds  int
	turn    time.Duration // of one contestant with one load, in one round
	rate    int           // re-fires a second, for the envelope
	paced   time.Duration
	faults  int // that re-fire
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	var p plan
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&p.clients, "clients", 4, "that send at one time, each the next request when the last is answered")
	flags.IntVar(&p.rounds, "rounds", 3, "turns of every contestant")
	flags.DurationVar(&p.turn, "turn", time.Second, "length of a turn, for each load")
	flags.IntVar(&p.rate, "rate", 100, "re-fires a second while the envelope is measured")
	flags.DurationVar(&p.paced, "paced", 4*time.Second, "for how long")
	flags.IntVar(&p.faults, "faults", 64, "that re-fire")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &stage{dir: dir, desk: newDesk(), say: func(format string, a ...any) { fmt.Fprintf(stderr, format+"\n", a...) }}
	defer s.close()
	s.say("building and starting ...")
	if err := s.start(ctx); err != nil {
		return err
	}
	results, err := s.measure(ctx, p)
	if err != nil {
		return err
	}
	envelopes, err := s.envelopes(ctx, p)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d CPUs, %s/%s; %d clients, %d turns of %s; the ticket system answers at once\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, p.clients, p.rounds, p.turn)
	printResults(stdout, s.contestants, results)
	printEnvelopes(stdout, p, envelopes)
	return nil
}
