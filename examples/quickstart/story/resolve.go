package main

import (
	"context"
	"slices"
)

const resolvedFaults = 10

// playResolve: what is over may come back. Until its ticket is resolved a fault
// has no second one, and after that its next fire is a ticket of its own.
func playResolve(ctx context.Context, s *stage) (row, error) {
	s.out.say("%d faults fire and re-fire, the automation resolves their tickets (PATCH, state 6), and they come back;", resolvedFaults)
	s.out.say("these updates are the automation's own")
	known := faults("resolve", resolvedFaults)
	m, err := s.measure(ctx, s.enforced(), func(a automation) ([]answer, error) {
		before, err := a.storm(ctx, known, 3)
		if err != nil {
			return nil, err
		}
		if err := a.resolve(ctx, before[len(before)-len(known):]); err != nil {
			return nil, err
		}
		after, err := a.from(3).storm(ctx, returned(known), 3)
		return slices.Concat(before, after), err
	})
	if err != nil {
		return row{}, err
	}
	if err := m.expect("resolves that reached the ticket system", m.updates, len(known)); err != nil {
		return row{}, err
	}
	return m.row(), m.oneTicketEach()
}

// returned are the same faults, after they were over.
func returned(known []fault) []fault {
	again := slices.Clone(known)
	for i := range again {
		again[i].returned = true
	}
	return again
}
