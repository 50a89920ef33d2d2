// Command cases plays case files against oneticket: requests as legacy clients
// send them, through a real Envoy, to a scripted backend; and message
// sequences straight to its gRPC side.
//
//	cases [flags] DIR
//
// It prints one line for each case and exits with 1 when a case fails that is
// not on the list of exceptions, or one passes that is.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are the flags.
type options struct {
	oneticket string
	envoy     string
	direct    bool
	verbose   bool
	jobs      int
	only      *regexp.Regexp
}

func parseOptions(args []string, stderr io.Writer) (options, string, error) {
	var o options
	flags := flag.NewFlagSet("cases", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: cases [flags] DIR")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.oneticket, "oneticket", "", "the binary, built with -tags testclock (default: build it)")
	flags.StringVar(&o.envoy, "envoy", "", "the Envoy binary (default: ONETICKET_ENVOY, or .tools/bin/envoy)")
	flags.BoolVar(&o.direct, "direct", false, "clients talk to the backend itself, with no oneticket between")
	flags.BoolVar(&o.verbose, "v", false, "print every difference, what was not checked, and the log")
	flags.IntVar(&o.jobs, "j", 4, "how many cases are played at a time")
	only := flags.String("run", "", "play only the cases whose id matches this expression")
	if err := flags.Parse(args); err != nil {
		return o, "", err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, "", fmt.Errorf("-run: %w", err)
	}
	if flags.NArg() != 1 || o.jobs < 1 {
		flags.Usage()
		return o, "", fmt.Errorf("want one folder, and at least one job")
	}
	return o, flags.Arg(0), nil
}

// command is the whole program; it returns the exit status.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, dir, err := parseOptions(args, stderr)
	if err == nil {
		var good bool
		if good, err = playAll(ctx, o, dir, stdout); err == nil && good {
			return 0
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "cases: %v\n", err)
	}
	return 1
}

// playAll plays every case of the folder and reports in the order of names.
func playAll(ctx context.Context, o options, dir string, stdout io.Writer) (bool, error) {
	exceptions, err := parseExceptions(exceptionsText)
	if err != nil {
		return false, err
	}
	files, err := caseFiles(dir, o.only)
	if err != nil {
		return false, err
	}
	env, clean, err := o.environment(ctx)
	if err != nil {
		return false, err
	}
	defer clean()

	results := make([]chan result, len(files))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	go playFiles(ctx, env, files, results, o.jobs)
	good := true
	for _, c := range results {
		r := <-c
		line, fine := r.verdict(exceptions)
		good = good && fine
		fmt.Fprintln(stdout, line)
		if o.verbose {
			r.details(stdout)
		}
	}
	return good, ctx.Err()
}

// playFiles plays a few files at a time.
func playFiles(ctx context.Context, env environment, files []string, results []chan result, jobs int) {
	var playing sync.WaitGroup
	slots := make(chan struct{}, jobs)
	for i, file := range files {
		slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-slots }()
			results[i] <- playFile(ctx, env, file)
		})
	}
	playing.Wait()
}

// playFile plays one case or sequence.
func playFile(ctx context.Context, env environment, file string) result {
	id := caseID(file)
	if ctx.Err() != nil {
		return result{ID: id, Findings: []finding{{"runner", "the case played", ctx.Err().Error()}}}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return result{ID: id, Findings: []finding{{"file", "a case", err.Error()}}}
	}
	if filepath.Ext(file) == ".seq" {
		return playSequence(ctx, env, string(text))
	}
	return playCase(ctx, env, string(text))
}

// caseID is the id at the front of a file's name.
func caseID(file string) string {
	name := filepath.Base(file)
	id, _, _ := strings.Cut(strings.TrimSuffix(name, filepath.Ext(name)), "-")
	return id
}

// caseFiles lists the cases of a folder, by name.
func caseFiles(dir string, only *regexp.Regexp) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if oneOf(filepath.Ext(e.Name()), ".http", ".seq") && only.MatchString(caseID(e.Name())) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no case", dir)
	}
	slices.Sort(files)
	return files, nil
}

// environment finds or builds the programs.
func (o options) environment(ctx context.Context) (environment, func(), error) {
	if o.direct {
		return environment{}, func() {}, nil
	}
	env := environment{oneticket: o.oneticket, envoy: o.envoy}
	clean := func() {}
	var err error
	if env.envoy == "" {
		if env.envoy, err = findEnvoy(); err != nil {
			return env, clean, err
		}
	}
	if env.envoy, err = filepath.Abs(env.envoy); err != nil {
		return env, clean, err
	}
	if env.oneticket != "" {
		env.oneticket, err = filepath.Abs(env.oneticket)
		return env, clean, err
	}
	dir, err := os.MkdirTemp("", "cases")
	if err != nil {
		return env, clean, err
	}
	clean = func() { os.RemoveAll(dir) }
	if env.oneticket, err = buildProduct(ctx, dir); err != nil {
		clean()
		return env, func() {}, err
	}
	return env, clean, nil
}
