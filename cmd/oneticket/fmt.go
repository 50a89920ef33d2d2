package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"oneticket/config"
)

// A formatter is one run of fmt.
type formatter struct {
	c                  *common
	check, diff, write bool
	changed, broken    int
}

func newFmtCommand(c *common) *cobra.Command {
	f := &formatter{c: c}
	cmd := &cobra.Command{
		Use:   "fmt [FILE|FOLDER|-]...",
		Short: "Write configuration files in the usual form",
		Long: `fmt rewrites files in the usual form of HCL, and prints the names of those that
it changed. Without an argument it takes the configuration (-c); of a folder it
takes the *.hcl files; "-" reads stdin and writes stdout. It changes blanks only,
never what a file means.

With --check nothing is written, and the exit status is 1 when a file is not in
the usual form. With --diff what changes is shown, and written all the same;
--check --diff only shows it.`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.InOrStdin(), args) },
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing; exit 1 when a file would change")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show what changes; it is written all the same, unless with --check or --write=false")
	cmd.Flags().BoolVar(&f.write, "write", true, "write the files (--write=false: only name them)")
	return cmd
}

var errNotFormatted = errors.New("not every file is in the usual form: run \"oneticket fmt\"")

func (f *formatter) run(stdin io.Reader, args []string) error {
	if len(args) == 0 {
		args = []string{f.c.configPath}
	}
	for _, arg := range args {
		if err := f.argument(stdin, arg, len(args)); err != nil {
			return err
		}
	}
	switch {
	case f.broken > 0:
		return errSaid
	case f.check && f.changed > 0:
		return errNotFormatted
	}
	return nil
}

func (f *formatter) argument(stdin io.Reader, arg string, of int) error {
	if arg == "-" {
		if of > 1 {
			return errors.New(`"-" stands alone: stdin is one file`)
		}
		return f.stream(stdin)
	}
	names, err := filesOf(arg)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.file(name); err != nil {
			return err
		}
	}
	return nil
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	var names []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".hcl" {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("the folder %s has no *.hcl file", path)
	}
	return names, err
}

// stream formats stdin to stdout; with --check or --diff it does not print the
// file.
func (f *formatter) stream(stdin io.Reader) error {
	text, err := io.ReadAll(stdin)
	if err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	formatted, ok, err := f.format(text, "<stdin>")
	if err != nil || !ok {
		return err
	}
	if f.check || f.diff {
		return nil
	}
	_, err = f.c.stdout.Write(formatted)
	return err
}

func (f *formatter) file(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before := f.changed
	formatted, ok, err := f.format(text, name)
	if err != nil || !ok || f.changed == before {
		return err
	}
	if !f.diff {
		fmt.Fprintln(f.c.stdout, name)
	}
	if f.check || !f.write {
		return nil
	}
	return rewrite(name, formatted)
}

// format counts what is changed or broken, and shows it; ok is false when the
// syntax is broken.
func (f *formatter) format(text []byte, name string) (formatted []byte, ok bool, err error) {
	formatted, diags := config.Format(text, name)
	if diags.HasErrors() {
		f.broken++
		_, err := diags.WriteTo(f.c.stderr)
		return nil, false, err
	}
	if !bytes.Equal(text, formatted) {
		f.changed++
		if f.diff {
			_, err = io.WriteString(f.c.stdout, difference(name, text, formatted))
		}
	}
	return formatted, true, err
}

// rewrite replaces the contents of a file at once: a crash in between leaves
// the old ones. A link goes on to point to the file.
func rewrite(name string, text []byte) error {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(real), ".oneticket-fmt-*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // gone already when all is well
	_, err = next.Write(text)
	if err = errors.Join(err, next.Chmod(info.Mode().Perm()), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), real)
}
