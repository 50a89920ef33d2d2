package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"oneticket/config"
	"oneticket/dedup/deadletter"
)

// deadLetters are the letters of a process that runs (a deadletter.Client), or
// of one that does not (a deadletter.Box).
type deadLetters interface {
	List(ctx context.Context, yield func(deadletter.Letter) bool) error
	Get(ctx context.Context, id string) (deadletter.Letter, error)
	Delete(ctx context.Context, id string) error
	DeleteAll(ctx context.Context) (int, error)
}

var (
	_ deadLetters = (*deadletter.Box)(nil)
	_ deadLetters = (*deadletter.Client)(nil)
)

func newDeadLetterCommand(c *common) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "deadletter",
		Short: "Creates that never became tickets: list, show, replay, rm",
		Long: `A create that was never sent, that was refused for now, or whose outcome is
unknown is kept as a dead letter until an attempt of its key and episode becomes
a ticket. The letters are those of one oneticket, in its state_dir: while that
runs they are asked for at its admin address, else they are read from the file.

No credential is kept with a letter. A replay has those of the configuration:

  backend "servicenow" {
    url         = "https://acme.service-now.com"
    credentials = { Authorization = env("SERVICENOW_AUTHORIZATION") }
  }`,
	}
	cmd.AddCommand(newDeadLetterList(c), newDeadLetterShow(c), newDeadLetterReplay(c), newDeadLetterRemove(c))
	return cmd
}

func newDeadLetterList(c *common) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "One line a letter: id, age, rule, key, why, status, tries",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDeadLetters(cmd.Context(), func(letters deadLetters) error {
				return c.printDeadLetters(cmd.Context(), letters, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func newDeadLetterShow(c *common) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "One letter: what is known of it, its headers and its body",
		Args:  oneArgument("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withDeadLetters(cmd.Context(), func(letters deadLetters) error {
				l, err := letters.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return c.printDeadLetter(l, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object, the body as body_base64")
	return cmd
}

func newDeadLetterReplay(c *common) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "replay ID...|--all",
		Short: "Send letters again, through the claim of the oneticket that runs",
		Long: `replay sends a letter as its client did, with the credentials of the
configuration, through the running oneticket: the create is claimed like any
other, and goes out only if its key is still in the letter's episode without a
ticket; else the letter is dropped. There are four tries, 0.5 s apart, doubling;
then the letter stays. Exit status 1 says that some stay.`,
		Args: idsOrAll(&all),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.replayDeadLetters(cmd.Context(), args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all letters that are there now")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func newDeadLetterRemove(c *common) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "rm ID...|--all",
		Short: "Remove letters: their creates are given up",
		Args:  idsOrAll(&all),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withDeadLetters(cmd.Context(), func(letters deadLetters) error {
				return c.removeDeadLetters(cmd.Context(), letters, args)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all letters that are there now")
	return cmd
}

// oneArgument wants the one that the usage calls so.
func oneArgument(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("want one %s: %s", name, cmd.UseLine())
		}
		return nil
	}
}

// idsOrAll wants some ids or --all, and not both.
func idsOrAll(all *bool) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if *all == (len(args) > 0) {
			return errors.New("want the IDs of letters, or --all")
		}
		return nil
	}
}

// withDeadLetters opens the file, or asks the process that has it.
func (c *common) withDeadLetters(ctx context.Context, do func(deadLetters) error) (err error) {
	cfg, err := loadBeside(c)
	if err != nil {
		return err
	}
	path := deadLetterPath(cfg)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return do(noDeadLetters{})
	}
	box, err := deadletter.Open(ctx, c.deadLetterOptions(path))
	if errors.Is(err, deadletter.ErrInUse) {
		return do(&deadletter.Client{Address: cfg.Admin})
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	return do(box)
}

func deadLetterPath(cfg *config.Config) string {
	return filepath.Join(cfg.StateDir, deadletter.FileName)
}

// deadLetterOptions have no bounds: a command gives nothing up unasked.
func (c *common) deadLetterOptions(path string) deadletter.Options {
	return deadletter.Options{
		Path:    path,
		Bounds:  deadletter.Bounds{MaxCount: math.MaxInt64, MaxBytes: math.MaxInt64, MaxAge: math.MaxInt64},
		OnError: func(err error) { fmt.Fprintln(c.stderr, err) },
	}
}

// noDeadLetters are those of a state_dir that has never kept one.
type noDeadLetters struct{}

func (noDeadLetters) List(context.Context, func(deadletter.Letter) bool) error { return nil }
func (noDeadLetters) Get(_ context.Context, id string) (deadletter.Letter, error) {
	return deadletter.Letter{}, fmt.Errorf("%w: %s", deadletter.ErrNotFound, id)
}
func (noDeadLetters) Delete(_ context.Context, id string) error {
	return fmt.Errorf("%w: %s", deadletter.ErrNotFound, id)
}
func (noDeadLetters) DeleteAll(context.Context) (int, error) { return 0, nil }

// removeDeadLetters removes the letters with the ids, or all without any.
func (c *common) removeDeadLetters(ctx context.Context, letters deadLetters, ids []string) error {
	if len(ids) == 0 {
		n, err := letters.DeleteAll(ctx)
		fmt.Fprintf(c.stderr, "%d removed\n", n)
		return err
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, letters.Delete(ctx, id))
	}
	return errors.Join(errs...)
}

// replayDeadLetters needs the process: the claim, the settling and the way to
// the backend are its own.
func (c *common) replayDeadLetters(ctx context.Context, ids []string, asJSON bool) error {
	cfg, err := loadBeside(c)
	if err != nil {
		return err
	}
	client := &deadletter.Client{Address: cfg.Admin}
	stay, told := 0, 0
	tell := func(r deadletter.Result) bool {
		if told++; r.Became == deadletter.Stays {
			stay++
		}
		return c.printReplay(r, asJSON) == nil
	}
	if len(ids) == 0 {
		err = client.ReplayAll(ctx, tell)
	}
	for _, id := range ids {
		result, failure := client.Replay(ctx, id)
		if failure == nil {
			tell(result)
		}
		err = errors.Join(err, failure)
	}
	switch {
	case err != nil:
		return fmt.Errorf("replay goes through the oneticket that runs with this configuration: %w", err)
	case stay > 0:
		return fmt.Errorf("%d of %d letters stay", stay, told)
	case told == 0:
		fmt.Fprintln(c.stderr, "no dead letters")
		return nil
	default:
		return nil
	}
}
