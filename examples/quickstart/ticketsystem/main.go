// Command ticketsystem is the ticket system of the demo: a small stand-in for
// the incident table of ServiceNow's Table API, with the counts and the
// misbehaviour that a story needs. It keeps everything in memory and is no
// part of the product.
//
// It prints one line, the address that it listens on, and serves until it gets
// SIGINT or SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
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

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet("ticketsystem", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on")
	user := flags.String("user", "automation", "the one user who may use the table")
	password := flags.String("password", "demo", "that user's password")
	delay := flags.Duration("delay", 0, "how long each create takes")
	keep := flags.Int("keep", 20000, "tickets kept; the oldest are forgotten, the counts are not")
	if err := flags.Parse(args); err != nil {
		return 1
	}
	s := newServer(newTable(*keep), *user, *password)
	s.faults.setDelay(*delay)
	if err := serve(ctx, stdout, *listen, s); err != nil {
		fmt.Fprintln(stderr, "ticketsystem:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, stdout io.Writer, listen string, h http.Handler) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "http://%s\n", l.Addr())
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Nobody waits for a demo's last answers.
	if err := srv.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
