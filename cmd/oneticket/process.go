package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"oneticket/config"
)

// A process is one run of the program, from its configuration to its end.
type process struct {
	config *config.Config
	log    *slog.Logger
	say    io.Writer // stderr: what is where, for a person
	envoy  string    // --envoy
	serves bool      // beside an Envoy that somebody else runs
	logs   string    // --log-dir of serve: where that one writes the bypass log

	configPath string
	name       string // of this replica

	failed chan error // a part that ended by itself, and why
}

func newProcess(c *common, cfg *config.Config, envoyPath string) (*process, error) {
	log, err := c.logger()
	if err != nil {
		return nil, err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "unknown host"
	}
	return &process{
		config: cfg, log: log, say: c.stderr, envoy: envoyPath, configPath: c.configPath,
		name:   fmt.Sprintf("%s/%d", name, os.Getpid()),
		failed: make(chan error, 8),
	}, nil
}

// goes runs a part beside the others; its end by an error ends the process.
func (p *process) goes(part func() error) {
	go func() {
		if err := part(); err != nil {
			p.failed <- err
		}
	}()
}

// run starts everything, waits for a signal or for the end of a part, and
// stops everything. SIGTERM and SIGINT are a good end; a second one is
// impatience and ends the program at once.
func (p *process) run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	app := newApp(p)
	if err := app.Err(); err != nil {
		return rootCause(err)
	}
	started, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := app.Start(started); err != nil {
		return rootCause(err)
	}
	var failure error
	select {
	case <-ctx.Done():
		stop() // from here on a second signal has its usual effect
		p.log.Info("stopping: waiting for the creates that are under way")
	case failure = <-p.failed:
	}
	ending, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := errors.Join(failure, app.Stop(ending))
	if err == nil {
		p.log.Info("stopped")
	}
	return err
}
