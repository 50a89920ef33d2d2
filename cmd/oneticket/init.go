package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"oneticket/config"
)

func newInitCommand(c *common) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init PRESET...",
		Short: "Write a commented configuration for the named ticket systems",
		Long: `init writes a configuration with a backend for each preset, and comments that
say what to change. Without an argument it lists the presets. It does not
overwrite a file, unless told so by --force.

  oneticket init servicenow
  oneticket init jira zendesk -c oneticket.hcl`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listPresets(c.stdout)
			}
			presets, err := findPresets(args)
			if err != nil {
				return err
			}
			return writeConfig(c, presets, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file when there is one")
	return cmd
}

// listPresets prints one line a preset.
func listPresets(w io.Writer) error {
	width := 0
	for _, name := range config.Presets() {
		width = max(width, len(name))
	}
	for _, name := range config.Presets() {
		info, _ := config.FindPreset(name)
		title := info.Title
		if info.Unproven {
			title += " (unproven)"
		}
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, name, title); err != nil {
			return err
		}
	}
	return nil
}

// findPresets reports all names that there is no preset of.
func findPresets(names []string) ([]config.PresetInfo, error) {
	var found []config.PresetInfo
	var errs []error
	for _, name := range names {
		info, ok := config.FindPreset(name)
		if !ok {
			hint := "\"oneticket init\" lists the presets; generic/json is for every other JSON API"
			if near := config.Nearest(name, presetNames()); near != "" {
				hint = fmt.Sprintf("did you mean %q? %s", near, hint)
			}
			errs = append(errs, fmt.Errorf("no preset %q: %s", name, hint))
			continue
		}
		found = append(found, info)
	}
	return found, errors.Join(errs...)
}

// presetNames are those of the presets, and of the families with a default.
func presetNames() []string {
	var names []string
	for _, name := range config.Presets() {
		family, _, _ := strings.Cut(name, "/")
		if _, ok := config.FindPreset(family); ok {
			names = append(names, family)
		}
		names = append(names, name)
	}
	return names
}

// writeConfig writes the file, and says what comes next.
func writeConfig(c *common, presets []config.PresetInfo, force bool) error {
	backends := newBackends(presets)
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(c.configPath, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: --force overwrites it, -c FILE writes another", c.configPath)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, initialConfig(backends))
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "Wrote %s. Next:\n\n", c.configPath)
	for _, b := range backends {
		fmt.Fprintf(c.stderr, "  export %s=https://...    # the address of %s\n", b.variable, b.label)
	}
	fmt.Fprintf(c.stderr, "  oneticket validate%s\n  oneticket run%s\n\n", c.configFlag(), c.configFlag())
	for _, b := range backends {
		fmt.Fprintf(c.stderr, "Then let the automation send to http://127.0.0.1:%d in place of the address of %s.\n", b.port, b.label)
	}
	return nil
}

// configFlag is what a command needs to find the file.
func (c *common) configFlag() string {
	if c.configPath == "oneticket.hcl" {
		return ""
	}
	return " -c " + c.configPath
}
