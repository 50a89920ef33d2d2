package main

import (
	"context"
	"fmt"
	"net/http"
)

// measured is what one chapter did, as all three parties tell it: the
// automation its faults, requests and answers, the ticket system its tickets
// and updates, oneticket what it suppressed.
type measured struct {
	answers    []answer
	faults     int
	requests   int
	tickets    int
	keyed      int // creates that reached the ticket system with a token
	lost       int // creates that became a ticket and got no answer
	updates    int
	suppressed int
	changed    int // creates of which oneticket made an update
}

// measure takes readings before and after play, which sends along the way.
func (s *stage) measure(ctx context.Context, w way, play func(automation) ([]answer, error)) (measured, error) {
	ticketsBefore, decidedBefore, err := s.read(ctx, w)
	if err != nil {
		return measured{}, err
	}
	answers, err := play(automation{base: w.url, client: s.client, urgency: usual, out: s.out})
	s.out.done()
	if err != nil {
		return measured{}, err
	}
	tickets, decided, err := s.read(ctx, w)
	if err != nil {
		return measured{}, err
	}
	return measured{
		answers:    answers,
		faults:     len(ticketsOf(answers)),
		requests:   len(answers),
		tickets:    tickets.Tickets - ticketsBefore.Tickets,
		keyed:      tickets.Keyed - ticketsBefore.Keyed,
		lost:       tickets.Lost - ticketsBefore.Lost,
		updates:    tickets.Updates - ticketsBefore.Updates,
		suppressed: decided["suppress"] - decidedBefore["suppress"],
		changed:    decided["update"] - decidedBefore["update"],
	}, nil
}

func (s *stage) read(ctx context.Context, w way) (stats, decisions, error) {
	st, err := w.tickets.stats(ctx)
	if err != nil || w.rule == "" {
		return st, nil, err
	}
	d, err := s.sidecar.decisions(ctx, w.rule)
	return st, d, err
}

// ticketsOf gives, for each fault, the ticket numbers that its answers named.
func ticketsOf(answers []answer) map[fault]map[string]int {
	out := map[fault]map[string]int{}
	for _, a := range answers {
		if out[a.fault] == nil {
			out[a.fault] = map[string]int{}
		}
		out[a.fault][a.number]++
	}
	return out
}

// oneTicketEach is the promise: as many tickets as faults, every answer a
// success that names its fault's ticket, and all but the first suppressed or
// made an update of that ticket.
func (m measured) oneTicketEach() error {
	if err := m.expect("tickets", m.tickets, m.faults); err != nil {
		return err
	}
	for _, a := range m.answers {
		if a.status != http.StatusCreated || a.number == "" {
			return fmt.Errorf("promise broken: a create of %s was answered %d with the number %q", a.fault, a.status, a.number)
		}
	}
	if err := m.ownTickets(); err != nil {
		return err
	}
	if err := m.expect("creates with a token", m.keyed, m.faults); err != nil {
		return err
	}
	return m.expect("suppressed", m.suppressed, m.requests-m.faults-m.changed)
}

// ownTickets checks that all answers for a fault name one ticket, and those for
// another fault another one.
func (m measured) ownTickets() error {
	owner := map[string]fault{}
	for f, numbers := range ticketsOf(m.answers) {
		if len(numbers) != 1 {
			return fmt.Errorf("promise broken: the answers for %s name %d tickets: %v", f, len(numbers), numbers)
		}
		for number := range numbers {
			if other, taken := owner[number]; taken {
				return fmt.Errorf("promise broken: %s is the ticket of %s and of %s", number, min(f.String(), other.String()), max(f.String(), other.String()))
			}
			owner[number] = f
		}
	}
	return nil
}

func (m measured) expect(what string, got, want int) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("promise broken: %d faults in %d requests: %s: %d, should be %d", m.faults, m.requests, what, got, want)
}

func (m measured) row() row {
	return row{
		faults: m.faults, requests: m.requests, tickets: m.tickets,
		updates: m.updates, suppressed: m.suppressed,
	}
}
