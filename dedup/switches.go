package dedup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// Switches are the rules that somebody has switched off, kept in the store so
// that every replica obeys. The zero value has none off.
type Switches struct {
	All   bool     // every rule
	Rules []string // by name, in order
}

// Off reports whether the rule is switched off.
func (s Switches) Off(rule string) bool { return s.All || slices.Contains(s.Rules, rule) }

// switchRef is where they are kept: beside all records, which have a rule.
var switchRef = Ref{Scope: "oneticket", Key: "switches"}

// allRules stands for every rule in what is stored; no rule can be called so.
const allRules = "*"

// ReadSwitches reads them from the store.
func ReadSwitches(ctx context.Context, store Store) (Switches, error) {
	found, err := store.Get(ctx, switchRef)
	return switchesOf(found.Record), err
}

func switchesOf(rec Record) Switches {
	var s Switches
	for name := range strings.SplitSeq(string(rec.Identity), "\n") {
		switch name {
		case "":
		case allRules:
			s.All = true
		default:
			s.Rules = append(s.Rules, name)
		}
	}
	return s
}

// SwitchOff switches the rule off, or every rule where it is empty.
func SwitchOff(ctx context.Context, store Store, rule string) (Switches, error) {
	return turn(ctx, store, func(names []string) []string { return append(names, switchName(rule)) })
}

// SwitchOn takes back SwitchOff of the same rule; with an empty rule it takes
// back all of them.
func SwitchOn(ctx context.Context, store Store, rule string) (Switches, error) {
	return turn(ctx, store, func(names []string) []string {
		if rule == "" {
			return nil
		}
		return slices.DeleteFunc(names, func(name string) bool { return name == rule })
	})
}

func switchName(rule string) string {
	if rule == "" {
		return allRules
	}
	return rule
}

// switchesKept is longer than anybody forgets that a rule is off.
const switchesKept = 100 * 365 * 24 * time.Hour

func turn(ctx context.Context, store Store, change func([]string) []string) (Switches, error) {
	e := NewEngine(EngineOptions{Store: store})
	for range maxRounds {
		found, err := store.Get(ctx, switchRef)
		if err != nil {
			return Switches{}, err
		}
		names := change(strings.FieldsFunc(string(found.Record.Identity), func(r rune) bool { return r == '\n' }))
		slices.Sort(names)
		next := Record{
			V: Format, State: None, Episode: found.Record.Episode,
			Identity:  []byte(strings.Join(slices.Compact(names), "\n")),
			KeepUntil: found.Now.Add(switchesKept),
		}
		written, err := e.swap(ctx, switchRef, found.Record.Version, next)
		if !errors.Is(err, ErrConflict) {
			return switchesOf(written), err
		}
	}
	return Switches{}, ErrConflict
}
