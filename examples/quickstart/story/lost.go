package main

import (
	"context"
	"slices"
)

const lostFaults = 10

// playLost: a ticket whose answer was lost is found, and the client that waits
// for the answer is told of it. It does not have to send again.
func playLost(ctx context.Context, s *stage) (row, error) {
	s.out.say("%d faults; the ticket system makes each ticket and cuts the connection before it answers", lostFaults)
	known := faults("lost", lostFaults)
	if err := s.tickets.loseAnswers(ctx, lostFaults); err != nil {
		return row{}, err
	}
	m, err := s.measure(ctx, s.enforced(), func(a automation) ([]answer, error) {
		first, err := a.storm(ctx, known, 1)
		if err != nil {
			return nil, err
		}
		again, err := a.from(1).storm(ctx, known, 4)
		return slices.Concat(first, again), err
	})
	if err != nil {
		return row{}, err
	}
	if err := m.expect("answers that the ticket system lost", m.lost, m.faults); err != nil {
		return row{}, err
	}
	return m.row(), m.oneTicketEach()
}
