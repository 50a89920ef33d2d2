package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"oneticket/config"
	"oneticket/dedup/sqlitestore"
	"oneticket/extproc/envoy"
)

// errSaid ends a command whose mistakes have been shown already.
var errSaid = errors.New("")

// searchEnvoy is --envoy without a path.
const searchEnvoy = "search"

func newValidateCommand(c *common) *cobra.Command {
	var asJSON bool
	var envoyPath string
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration, and change nothing",
		Long: `validate reads the configuration, and reports every mistake and everything that
is legal and dangerous: where, what was found, and what to do. It opens no store
and asks no ticket system. The exit status is 1 when there are mistakes.

With --envoy, Envoy itself also checks what "oneticket run" would have it do: the
one that --envoy PATH or --envoy=PATH names, or else the one that run would take.
With --json, the result is on stdout in the form of "terraform validate -json".`,
		Args: func(_ *cobra.Command, args []string) error {
			return envoyArgument(&envoyPath, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A signal must not leave behind what is made for Envoy.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			cfg, diags := config.LoadForRun(c.configPath)
			if cfg != nil {
				warnOfStore(cfg, &diags)
			}
			if cfg != nil && envoyPath != "" {
				if err := validateEnvoy(ctx, cfg, envoyPath); err != nil {
					diags.Fail("Envoy does not take the configuration", err.Error())
				}
			}
			return c.tell(cfg, diags, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result to stdout as JSON")
	cmd.Flags().StringVar(&envoyPath, "envoy", "", "let Envoy check too: the one at `PATH`, or else ONETICKET_ENVOY, the folder of make tools, PATH")
	cmd.Flags().Lookup("envoy").NoOptDefVal = searchEnvoy
	return cmd
}

// envoyArgument is for --envoy PATH: a flag that may stand alone takes no value
// but after "=".
func envoyArgument(path *string, args []string) error {
	if *path == searchEnvoy && len(args) == 1 {
		*path = args[0]
		return nil
	}
	if len(args) > 0 {
		return fmt.Errorf("validate takes no argument, found %q: the configuration is named with -c", args[0])
	}
	return nil
}

// tell writes the result: for programs to stdout; for people what is wrong to
// stderr and, when all is well, one line to stdout.
func (c *common) tell(cfg *config.Config, diags config.Diagnostics, asJSON bool) error {
	if asJSON {
		text, err := diags.JSON()
		if err != nil {
			return err
		}
		if _, err := c.stdout.Write(text); err != nil {
			return err
		}
	} else if _, err := diags.WriteTo(c.stderr); err != nil {
		return err
	}
	if diags.HasErrors() {
		return errSaid
	}
	if !asJSON {
		fmt.Fprintf(c.stdout, "%s is valid: %s\n", c.configPath, summary(cfg, diags.Len()))
	}
	return nil
}

// summary says what the configuration holds: a rule that only observes is easy
// to forget.
func summary(cfg *config.Config, warnings int) string {
	count := map[string]int{}
	own := 0
	for _, r := range cfg.Rules {
		if !r.Generated {
			count[r.Action]++
			own++
		}
	}
	parts := []string{number(len(cfg.Backends), "backend")}
	if own > 0 {
		parts = append(parts, number(own, "rule"))
	}
	if n := count["observe"]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of them only observing", n))
	}
	if n := count["off"]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of them off", n))
	}
	switch bare := len(cfg.Rules) - own; {
	case own == 0:
		parts = append(parts, "retries only (no rule)")
	case bare > 0:
		parts = append(parts, number(bare, "backend")+" retries only")
	}
	if warnings > 0 {
		parts = append(parts, number(warnings, "warning"))
	}
	return strings.Join(parts, ", ")
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// warnOfStore: where the embedded store lies, configuration alone cannot tell.
func warnOfStore(cfg *config.Config, diags *config.Diagnostics) {
	if cfg.Store.Kind != "sqlite" || !sqlitestore.OnTmpfs(sqlitePath(cfg.Store, &stateDir{path: cfg.StateDir})) {
		return
	}
	const summary = "the store is in memory"
	const detail = "A restart of the machine or container forgets every key, and each open fault may then get a second ticket. Put it on a disk: set "
	if cfg.Store.Path != "" {
		diags.Warn("store", "path", summary, detail+"path to a file there.")
		return
	}
	diags.Warn("", "state_dir", summary, detail+`state_dir to a folder there, or path in store "sqlite".`)
}

// validateEnvoy lets Envoy check what run would have it do. What it needs of
// state_dir is made in a folder for the purpose.
func validateEnvoy(ctx context.Context, cfg *config.Config, explicit string) error {
	if explicit == searchEnvoy {
		explicit = ""
	}
	path, err := envoy.Find(explicit)
	if err != nil {
		return err
	}
	version, err := envoy.Version(ctx, path)
	if err != nil {
		return err
	}
	if _, err := envoy.Supported(version); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "oneticket-state-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	spec, err := newSpec(&process{log: slog.New(slog.DiscardHandler)}, cfg, &stateDir{path: dir})
	if err != nil {
		return err
	}
	bootstrap, err := envoy.Bootstrap(spec)
	if err != nil {
		return err
	}
	return envoy.Validate(ctx, path, bootstrap)
}
