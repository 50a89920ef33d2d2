package dedup_test

import (
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

func TestSwitchesAreSeenByEveryReplica(t *testing.T) {
	store := storetest.NewMemory(time.Now)
	ctx := t.Context()
	steps := []struct {
		name     string
		turn     func() (dedup.Switches, error)
		off, not []string
	}{
		{"nothing was ever switched", func() (dedup.Switches, error) { return dedup.ReadSwitches(ctx, store) }, nil, []string{"a", "b"}},
		{"a off", func() (dedup.Switches, error) { return dedup.SwitchOff(ctx, store, "a") }, []string{"a"}, []string{"b"}},
		{"a off again", func() (dedup.Switches, error) { return dedup.SwitchOff(ctx, store, "a") }, []string{"a"}, []string{"b"}},
		{"all off", func() (dedup.Switches, error) { return dedup.SwitchOff(ctx, store, "") }, []string{"a", "b", "c"}, nil},
		{"a on: all stays off", func() (dedup.Switches, error) { return dedup.SwitchOn(ctx, store, "a") }, []string{"a", "b"}, nil},
		{"all on", func() (dedup.Switches, error) { return dedup.SwitchOn(ctx, store, "") }, nil, []string{"a", "b"}},
	}
	for _, s := range steps {
		told, err := s.turn()
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		read, err := dedup.ReadSwitches(ctx, store)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for _, switches := range []dedup.Switches{told, read} {
			for _, rule := range s.off {
				if !switches.Off(rule) {
					t.Errorf("%s: %s is not off: %+v", s.name, rule, switches)
				}
			}
			for _, rule := range s.not {
				if switches.Off(rule) {
					t.Errorf("%s: %s is off: %+v", s.name, rule, switches)
				}
			}
		}
	}
}

func TestSwitchesTurnedAtOneInstantAreAllKept(t *testing.T) {
	store := storetest.NewMemory(time.Now)
	var all sync.WaitGroup
	rules := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, rule := range rules {
		all.Go(func() {
			if _, err := dedup.SwitchOff(t.Context(), store, rule); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s, err := dedup.ReadSwitches(t.Context(), store)
	if err != nil || len(s.Rules) != len(rules) {
		t.Errorf("%+v, %v; want %v", s, err, rules)
	}
}
