package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oneticket/config"
	"oneticket/dedup"
)

// obeysWithin is how soon every replica does what off and on say.
const obeysWithin = 5 * time.Second

func newOffCommand(c *common) *cobra.Command {
	return &cobra.Command{
		Use:   "off [RULE]",
		Short: "Let creates pass untouched: of one rule, or of all",
		Long: `off is kept in the store, so that every replica obeys, within 5 seconds, and
goes on to obey after a restart. Records stay as they are; "oneticket on" takes
it back.`,
		Example: `  oneticket off                    # of all rules
  oneticket off network_faults     # of one
  oneticket off -c /etc/oneticket/oneticket.hcl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switches, cfg, err := c.turn(cmd.Context(), args, dedup.SwitchOff)
			if err != nil {
				return err
			}
			return c.tellSwitches(cfg, switches)
		},
	}
}

func newOnCommand(c *common) *cobra.Command {
	return &cobra.Command{
		Use:   "on [RULE]",
		Short: "Take back off: of one rule, or of all",
		Long: `on takes back what "oneticket off" said of the rule; without a rule, all that it
ever said. Every replica obeys within 5 seconds.`,
		Example: `  oneticket on                     # all rules
  oneticket on network_faults      # one that was switched off by its name`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switches, cfg, err := c.turn(cmd.Context(), args, dedup.SwitchOn)
			if err != nil {
				return err
			}
			if err := c.tellSwitches(cfg, switches); err != nil {
				return err
			}
			return staysOff(switches, args)
		},
	}
}

type turner func(context.Context, dedup.Store, string) (dedup.Switches, error)

// turn writes the switch into the store of the configuration.
func (c *common) turn(ctx context.Context, args []string, turn turner) (dedup.Switches, *config.Config, error) {
	cfg, err := loadStore(c)
	if err != nil {
		return dedup.Switches{}, nil, err
	}
	rule := strings.Join(args, "") // there is one at most
	if err := knownRule(cfg, rule); len(args) > 0 && err != nil {
		return dedup.Switches{}, nil, err
	}
	store, err := c.openStore(ctx, cfg)
	if err != nil {
		return dedup.Switches{}, nil, err
	}
	defer store.Close()
	switches, err := turn(ctx, store, rule)
	if err != nil {
		return switches, nil, fmt.Errorf("store %q: %w", cfg.Store.Kind, err)
	}
	return switches, cfg, nil
}

// tellSwitches says what is off now, a line each, on stdout.
func (c *common) tellSwitches(cfg *config.Config, switches dedup.Switches) error {
	off := 0
	for _, r := range cfg.Rules {
		state := "on"
		if switches.Off(r.Name) {
			state = "off"
			off++
		}
		if _, err := fmt.Fprintf(c.stdout, "%-4s %s\n", state, r.Name); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.stderr, "%s; every replica obeys within %s\n", sumOfSwitches(off, len(cfg.Rules)), obeysWithin)
	return nil
}

func sumOfSwitches(off, of int) string {
	all := fmt.Sprintf("all %d rules are", of)
	if of == 1 {
		all = "the rule is"
	}
	switch {
	case off == 0:
		return all + " on"
	case off == of:
		return all + " off"
	case off == 1:
		return fmt.Sprintf("1 of %d rules is off", of)
	}
	return fmt.Sprintf("%d of %d rules are off", off, of)
}

// staysOff: an "off" without a rule holds over an "on" with one.
func staysOff(switches dedup.Switches, args []string) error {
	if len(args) == 0 || !switches.All {
		return nil
	}
	return fmt.Errorf(`rule %q stays off, because all rules were switched off at once: take that back with "oneticket on", then switch off by name those that are to stay off`, args[0])
}

func knownRule(cfg *config.Config, name string) error {
	var names []string
	for _, r := range cfg.Rules {
		names = append(names, r.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	there := "there are " + strings.Join(names, ", ")
	switch len(names) {
	case 0:
		there = "the configuration has none"
	case 1:
		there = "there is one: " + names[0]
	}
	if near := config.Nearest(name, names); near != "" {
		there = fmt.Sprintf("did you mean %q? %s", near, there)
	}
	return fmt.Errorf("no rule %q: %s", name, there)
}
