package envoy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
)

// Options say how to run Envoy.
type Options struct {
	Path        string // of the binary, see Find
	Bootstrap   *bootstrapv3.Bootstrap
	StateDir    string       // made when it is missing; envoy.json is written there
	Log         *slog.Logger // gets what Envoy logs; nil discards it
	Concurrency int          // worker threads; default 2

	// DrainTime is how long connections that are open may go on under a
	// configuration that was replaced; see Spec.DrainTime. Then they are cut,
	// with what is under way on them. Default ten minutes.
	DrainTime time.Duration

	// KeepOnDeath lets Envoy live on when this program dies. By default it is
	// told to end then: an orphan keeps its ports, so that the next start could
	// not bind them, and lets creates pass unguarded that nobody looks after.
	// What failure_mode "open" is for, a filter that died in a process of its
	// own, is seen only with this option or with a foreign Envoy.
	KeepOnDeath bool
}

// A Child is a running Envoy. It ends by Stop, or by itself: see Done.
type Child struct {
	admin *admin
	cmd   *exec.Cmd
	tail  *tail
	done  chan struct{}

	stop     sync.Once
	stopping chan struct{} // closed by the first Stop
	err      error         // set before done is closed
}

// Start runs Envoy; Ready says when it can be used.
func Start(o Options) (*Child, error) {
	config, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Child{
		admin:    newAdmin(o.Bootstrap.GetAdmin().GetAddress().GetPipe().GetPath()),
		cmd:      command(o.Path, arguments(config, o)),
		tail:     &tail{log: o.Log, level: slog.LevelWarn},
		done:     make(chan struct{}),
		stopping: make(chan struct{}),
	}
	c.cmd.SysProcAttr = processAttributes(!o.KeepOnDeath)
	started := make(chan error, 1)
	go c.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("envoy: %w", err)
	}
	return c, nil
}

// prepare writes the configuration and returns its path.
func prepare(o Options) (string, error) {
	raw, err := JSON(o.Bootstrap)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(o.StateDir, 0o700); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	// Envoy would make it readable to all.
	bypass, err := os.OpenFile(filepath.Join(o.StateDir, BypassLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("bypass log: %w", err)
	}
	err = errors.Join(bypass.Chmod(0o600), bypass.Close()) // one that was there may be wider
	if err != nil {
		return "", fmt.Errorf("bypass log: %w", err)
	}
	path := filepath.Join(o.StateDir, "envoy.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return "", fmt.Errorf("envoy configuration: %w", err)
	}
	return path, nil
}

func arguments(config string, o Options) []string {
	return []string{
		"-c", config,
		"--concurrency", strconv.Itoa(cmp.Or(o.Concurrency, 2)),
		"--drain-time-s", strconv.Itoa(int(cmp.Or(o.DrainTime, 10*time.Minute).Seconds())),
		// A connection under a replaced configuration ends with its next answer,
		// and not at a moment drawn by lot.
		"--drain-strategy", "immediate",
		"--disable-hot-restart",
		"--log-level", "warning",
		"--log-format", logFormat,
		// A killed Envoy loses what it did not flush, and the bypass log is all
		// that knows of a create that passed unguarded: each line is written at
		// once.
		"--file-flush-interval-msec", "100", "--file-flush-min-size-kb", "0",
	}
}

// run is Envoy's life. The kernel kills a child when the thread that made it
// ends, not the process: so this goroutine keeps its thread.
func (c *Child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	stderr, err := c.cmd.StderrPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	started <- err
	if err != nil {
		return
	}
	c.tail.read(stderr)
	err = c.cmd.Wait()
	select {
	case <-c.stopping:
	default:
		c.err = ended(err, c.tail.String())
	}
	close(c.done)
}

func ended(err error, said string) error {
	why := "exit status 0"
	if err != nil {
		why = err.Error()
	}
	if said != "" {
		why += ": " + said
	}
	return errors.New("envoy ended: " + why)
}

// Done is closed when Envoy has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err says after Done why Envoy ended, with the last lines of its log; nil
// after Stop.
func (c *Child) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// PID is Envoy's process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// stopGrace is how long an Envoy that was told to end may take. It does not
// wait for requests; Drain does.
const stopGrace = 5 * time.Second

// Stop ends Envoy at once, by force when it does not obey or ctx ends.
func (c *Child) Stop(ctx context.Context) error {
	c.tail.ends.Store(true)
	c.stop.Do(func() { close(c.stopping) })
	defer os.Remove(c.admin.socket) // Envoy leaves it behind; else it is not there
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	_ = c.cmd.Process.Kill()
	<-c.done
	return c.err
}
