package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/failover"
	"oneticket/dedup/sqlitestore"
)

func newReconcileCommand(c *common) *cobra.Command {
	var asJSON bool
	var how string
	cmd := &cobra.Command{
		Use:   "reconcile [--merge close|link [KEY...]]",
		Short: "What was opened while the shared store was away, which were doubles, and merges them",
		Long: `While a shared store (redis, postgres) is out of reach, oneticket decides by a
file of its own, so that creates go on. When the store is back, it reconciles
what it has opened by itself; this command lists what came of it:

  taken_over           the ticket is the key's own now
  merged               the store knew the same ticket
  duplicate            a ticket that was open beside the key's own; what became
                       of it (a merge, somebody's close) is not in the list
  possible_duplicate   a token that may have made a ticket beside it
  doubtful             nobody can tell yet whether there is a ticket
  absent               there surely is no ticket: see "oneticket deadletter"
  closed               its fault is over

The list is that of one oneticket, in its state_dir. Creates that wait for the
store to come back are not in it yet: oneticket_provisional_creates counts them,
and /ready says that the store is away. Where a ticket system can
be asked for a token, that is done with backend.credentials.

With --merge, the oneticket that runs merges each duplicate that is not merged
yet, or those of the keys, into the ticket of its key: "close" closes it, "link"
links it, as merge_close and merge_link of the rule say, with
backend.credentials. Both tickets are read before, and must be open. Exit status
1 says that some are left. A possible_duplicate has no ticket that is known:
look for its token in the ticket system.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case how == "" && len(args) > 0:
				return errors.New("keys are for --merge close or --merge link")
			case how != "" && how != "close" && how != "link":
				return fmt.Errorf("--merge %q: want close or link", how)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, keys []string) error {
			if how != "" {
				return c.mergeDoubles(cmd.Context(), how, keys, asJSON)
			}
			return c.reconcile(cmd.Context(), asJSON)
		},
	}
	cmd.Flags().StringVar(&how, "merge", "", "merge the doubles: `HOW` is close or link")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func (c *common) reconcile(ctx context.Context, asJSON bool) error {
	cfg, err := loadStore(c)
	if err != nil {
		return err
	}
	if cfg.Store.Kind == "sqlite" {
		fmt.Fprintln(c.stderr, `the store is "sqlite": there is no other that could be away`)
		return nil
	}
	entries, err := c.reconciled(ctx, cfg)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		fmt.Fprintln(c.stderr, "nothing is reconciled: nothing was opened while the store was away, or it is not back yet")
		return nil
	}
	return c.printReconciled(entries, asJSON)
}

func (c *common) reconciled(ctx context.Context, cfg *config.Config) (entries []failover.Entry, err error) {
	path := filepath.Join(cfg.StateDir, localName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	local, err := sqlitestore.Open(ctx, sqlitestore.Options{Path: path})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	shared, err := c.openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer shared.Close()
	if entries, err = failover.Entries(ctx, local, shared); err == nil {
		return entries, nil
	}
	fmt.Fprintf(c.stderr, "the store is out of reach: %v\n", err)
	return failover.Entries(ctx, local, nil)
}

func (c *common) printReconciled(entries []failover.Entry, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(c.stdout)
		for _, e := range entries {
			if err := out.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	doubles := 0
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "AGE\tRULE\tKEY\tRESULT\tTICKET\tBESIDE\tMERGE\tTOKEN")
	for _, e := range entries {
		if e.Result == dedup.Double && e.Merge == "" || e.Result == dedup.MaybeDouble {
			doubles++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", age(time.Since(e.At)), e.Rule, plain(string(e.Key)), e.Result,
			orDash(e.Ticket), orDash(e.Beside), orDash(string(e.Merge)), orDash(e.Token))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "%d in all, doubles that are not merged: %d\n", len(entries), doubles)
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return plain(s)
}
