package storetest

import (
	"time"

	"oneticket/dedup"
)

const (
	snow = dedup.TicketScope("servicenow")
	jira = dedup.TicketScope("jira")
)

func (s *scene) ticket(scope dedup.TicketScope, id string, ref dedup.Ref, wantClosed bool) {
	s.Helper()
	if closed, err := s.one.Ticket(s.ctx, scope, id, ref, time.Hour); closed != wantClosed || err != nil {
		s.Fatalf("ticket %s %s: closed %v, %v; want %v", scope, id, closed, err, wantClosed)
	}
}

// closes keeps a close, or learns that want holds the ticket.
func (s *scene) closes(scope dedup.TicketScope, id string, want dedup.Ref) {
	s.Helper()
	ref, held, err := s.two.KeepClose(s.ctx, scope, id, time.Hour)
	if ref != want || held != (want != dedup.Ref{}) || err != nil {
		s.Fatalf("close of %s %s: %+v, %v, %v; want %+v", scope, id, ref, held, err, want)
	}
}

func closeBeforeTicket(s *scene) {
	ref := refOf("early")
	s.closes(snow, "INC1", dedup.Ref{})
	s.closes(snow, "INC1", dedup.Ref{}) // a webhook that comes twice
	s.ticket(jira, "INC1", ref, false)
	s.ticket(snow, "INC2", ref, false)
	s.ticket(snow, "INC1", ref, true)
	s.ticket(snow, "INC1", ref, true) // the reply was lost
	s.closes(snow, "INC1", ref)
}

func closeAfterTicket(s *scene) {
	ref, next := refOf("late"), refOf("later")
	s.ticket(snow, "INC1", ref, false)
	s.closes(snow, "INC1", ref)
	s.closes(snow, "INC1", ref)
	s.closes(jira, "INC1", dedup.Ref{})
	s.ticket(snow, "INC1", next, false) // the close was told, not kept
	s.closes(snow, "INC1", next)
}

func ticketsEnd(s *scene) {
	ref := refOf("ends")
	s.closes(snow, "INC1", dedup.Ref{})
	s.ticket(snow, "INC2", ref, false)
	s.data.Forward(61 * time.Minute)
	s.ticket(snow, "INC1", ref, false)
	s.closes(snow, "INC2", dedup.Ref{})
}
