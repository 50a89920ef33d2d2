package main

import (
	"context"
	"fmt"
	"slices"
)

const worseFaults = 10

// playSeverity: a fault that becomes worse is no second ticket, and the one
// that is open says so, once.
func playSeverity(ctx context.Context, s *stage) (row, error) {
	s.out.say("%d faults begin at urgency 3, and become urgency 1 while their tickets are open", worseFaults)
	known := faults("severity", worseFaults)
	m, err := s.measure(ctx, s.enforced(), func(a automation) ([]answer, error) {
		minor, err := a.at("3").storm(ctx, known, 3)
		if err != nil {
			return nil, err
		}
		critical, err := a.at("1").from(3).storm(ctx, known, 3)
		return slices.Concat(minor, critical), err
	})
	if err != nil {
		return row{}, err
	}
	if err := m.expect("updates", m.updates, m.faults); err != nil {
		return row{}, err
	}
	if err := s.tickets.allOfUrgency(ctx, m.answers, "1"); err != nil {
		return row{}, err
	}
	return m.row(), m.oneTicketEach()
}

// allOfUrgency reads the tickets that the answers named.
func (t *ticketSystem) allOfUrgency(ctx context.Context, answers []answer, want string) error {
	for f, numbers := range ticketsOf(answers) {
		for number := range numbers {
			got, err := t.urgencyOf(ctx, number)
			if err != nil {
				return err
			}
			if got != want {
				return fmt.Errorf("promise broken: %s of %s has urgency %q, should be %q", number, f, got, want)
			}
		}
	}
	return nil
}
