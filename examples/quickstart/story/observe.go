package main

import (
	"context"
	"fmt"
)

// playObserve: a rule on trial touches nothing, and says what it would have
// done.
func playObserve(ctx context.Context, s *stage) (row, error) {
	s.out.say("the same storm at a rule with action = \"observe\"")
	m, err := s.measure(ctx, s.observed(), func(a automation) ([]answer, error) {
		return a.storm(ctx, faults("observe", stormFaults), stormRefires+1)
	})
	if err != nil {
		return row{}, err
	}
	r := m.row()
	r.observed = true
	return r, m.untouched()
}

// untouched checks that every request became a ticket as if nobody stood in
// between, and that the rule has counted what it would have suppressed.
func (m measured) untouched() error {
	if err := m.expect("tickets", m.tickets, m.requests); err != nil {
		return err
	}
	if err := m.expect("creates with a token", m.keyed, 0); err != nil {
		return err
	}
	for _, a := range m.answers {
		if a.decision != "" {
			return fmt.Errorf("promise broken: an answer of a rule that only observes says %q", a.decision)
		}
	}
	return m.expect("suppressed, had the rule been enforced", m.suppressed, m.requests-m.faults)
}
