package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set at build time (-ldflags "-X main.version=1.2.3").
var version = "dev"

func newVersionCommand(c *common) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.stdout, versionLine())
			return err
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("oneticket %s (%s%s)", version, revision(), runtime.Version())
}

// revision is the commit that the binary was built from, and a comma; nothing
// where it does not know.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && s.Value != "" {
			return s.Value[:min(12, len(s.Value))] + ", "
		}
	}
	return ""
}
