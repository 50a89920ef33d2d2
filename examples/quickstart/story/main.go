// Command story plays legacy automation against a ticket system, first
// straight and then through oneticket, and prints what arrived. Every number
// in its table is read in that run: from the ticket system's /stats and from
// oneticket's /metrics. It exits 1 with one sentence if a promise of oneticket
// does not hold.
//
// main.go is the order of events, chapters.go the list of the chapters,
// stage.go what they play on, automation.go the part of the legacy automation.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}

// limit bounds the whole story: a demo that hangs has failed.
const limit = 2 * time.Minute

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet("story", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var p programs
	flags.StringVar(&p.oneticket, "oneticket", "bin/oneticket", "the oneticket program")
	flags.StringVar(&p.envoy, "envoy", ".tools/bin/envoy", "the Envoy program")
	flags.StringVar(&p.ticketSystem, "ticketsystem", "bin/demo/ticketsystem", "the demo ticket system")
	flags.StringVar(&p.config, "config", "examples/quickstart/oneticket.hcl", "oneticket's configuration")
	if err := flags.Parse(args); err != nil {
		return 1
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out := newTeller(stdout)
	err := tell(limited, out, p)
	out.done()
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil: // what failed then failed by that
		fmt.Fprintln(stderr, "demo: interrupted")
	default:
		fmt.Fprintln(stderr, "demo:", err)
	}
	return 1
}

// tell plays all chapters and prints the table.
func tell(ctx context.Context, out *teller, p programs) (err error) {
	start := time.Now()
	s, err := openStage(ctx, p, out)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w%s", err, s.lastWords())
		}
		s.close()
	}()
	var rows []row
	for _, c := range chapters {
		out.chapter(c.title)
		r, err := c.play(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
		r.name = c.title
		rows = append(rows, r)
	}
	out.table(rows)
	out.say("every promise held; %.0f seconds, on loopback only", time.Since(start).Seconds())
	return nil
}
