package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
)

// common are the flags that every command has.
type common struct {
	configPath string
	logFormat  string
	logLevel   string
	stdout     io.Writer
	stderr     io.Writer
}

func newRootCommand(stdout, stderr io.Writer) *cobra.Command {
	c := &common{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "oneticket",
		Short: "One fault, one key, one ticket",
		Long: `oneticket runs beside Envoy and keeps legacy automation from opening the same
ticket twice: retries, replays, re-firing faults and redundant senders of one
fault all get the answer of the first create.

Start with a file oneticket.hcl that holds one block:

  backend "servicenow" {
    url    = "https://acme.service-now.com"
    listen = "127.0.0.1:8081"
  }

then run "oneticket run", and point the automation at http://127.0.0.1:8081.`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetVersionTemplate(versionLine() + "\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVarP(&c.configPath, "config", "c", envOr("ONETICKET_CONFIG", "oneticket.hcl"), "configuration file (ONETICKET_CONFIG)")
	flags.StringVar(&c.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&c.logLevel, "log-level", "info", "debug, info, warn or error")
	root.AddCommand(newRunCommand(c), newServeCommand(c), newEnvoyCommand(c), newDoctorCommand(c), newInitCommand(c), newValidateCommand(c), newFmtCommand(c), newOffCommand(c), newOnCommand(c), newDeadLetterCommand(c), newReconcileCommand(c), newVersionCommand(c))
	return root
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// logger writes to stderr, as the flags say.
func (c *common) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", c.logLevel)
	}
	o := &slog.HandlerOptions{Level: level}
	switch c.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(c.stderr, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.stderr, o)), nil
	default:
		return nil, fmt.Errorf("--log-format %q: want text or json", c.logFormat)
	}
}
