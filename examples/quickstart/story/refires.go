package main

import "context"

// playStraight shows what legacy automation does to a ticket system.
func playStraight(ctx context.Context, s *stage) (row, error) {
	s.out.say("%d faults fire and re-fire %d times each, straight at the ticket system", stormFaults, stormRefires)
	m, err := s.measure(ctx, s.straight(), func(a automation) ([]answer, error) {
		return a.storm(ctx, faults("straight", stormFaults), stormRefires+1)
	})
	if err != nil {
		return row{}, err
	}
	return m.row(), m.expect("tickets", m.tickets, m.requests)
}

// playRefires: one fault, one ticket, whatever the title and the time say.
func playRefires(ctx context.Context, s *stage) (row, error) {
	s.out.say("the same storm through oneticket: new titles, new times, the same %d faults", stormFaults)
	m, err := s.measure(ctx, s.enforced(), func(a automation) ([]answer, error) {
		return a.storm(ctx, faults("refires", stormFaults), stormRefires+1)
	})
	if err != nil {
		return row{}, err
	}
	return m.row(), m.oneTicketEach()
}
