package extproc_test

import (
	"net/http"
	"testing"

	"oneticket/dedup"
	"oneticket/extproc"
)

func TestAChangedSeverityIsAnUpdateOfTheTicket(t *testing.T) {
	for name, c := range map[string]struct {
		body     string
		patch    []int // what the update is answered with
		denied   bool
		closed   bool
		status   int // of the client's answer; 0: sent on as a create
		decision string
		failed   int
		severity string // the ticket's then
	}{
		"applied":               {body: worse("1"), status: 201, decision: "update; reason=changed", severity: "1"},
		"lower":                 {body: worse("3"), status: 201, decision: "update; reason=changed", severity: "3"},
		"failed for now":        {body: worse("1"), patch: []int{429}, status: 429, decision: "update; reason=changed", failed: 1},
		"of unknown outcome":    {body: worse("1"), patch: []int{500}, status: 500, decision: "update; reason=changed", failed: 1},
		"refused, and worse":    {body: worse("1"), patch: []int{403}, decision: "create; reason=update_failed", failed: 1},
		"refused, not worse":    {body: worse("3"), patch: []int{403}, status: 201, decision: "suppress; reason=refire", failed: 1},
		"refused: it is closed": {body: worse("1"), patch: []int{403}, closed: true, decision: "create; reason=closed"},
		"gone":                  {body: worse("1"), patch: []int{404}, decision: "create; reason=closed"},
	} {
		t.Run(name, func(t *testing.T) {
			r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) {
				updated := r.rule.Asks.Updated
				r.rule.Asks.Updated = func(a *dedup.Answer, f dedup.Fault, reason dedup.Reason) dedup.UpdateOutcome {
					if a.Status == http.StatusNotFound {
						return dedup.UpdateOutcome{Kind: dedup.UpdateGone}
					}
					return updated(a, f, reason)
				}
			})
			r.first()
			id := s.make("")
			s.script["PATCH one"] = c.patch
			if c.closed {
				s.close(id)
			}
			p := r.proxy()
			m := p.decided(c.body, bot...)
			if got := int(m.GetImmediateResponse().GetStatus().GetCode()); got != c.status || isReplay(m) && c.failed == 0 {
				t.Errorf("the client gets %v", m)
			}
			if got := metadata(m, "decision") + "; reason=" + metadata(m, "reason"); got != c.decision {
				t.Errorf("%s, want %s", got, c.decision)
			}
			if got := r.count.of("update failed", "faults"); got != c.failed || s.tickets[id].Severity != c.severity {
				t.Errorf("%d failures, severity %q; counted %v", got, s.tickets[id].Severity, r.count.n)
			}
		})
	}
}

// A backend that takes a severity for a closed ticket, and does not say that it
// is one, would swallow the next fault.
func TestATicketIsReadBeforeAnUpdateThatTellsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		closed, gone bool
		read         []int // what the read is answered with
		decision     string
		patched      int
	}{
		"open":             {decision: "update; reason=changed", patched: 1},
		"closed":           {closed: true, decision: "create; reason=closed"},
		"gone":             {gone: true, decision: "create; reason=closed"},
		"cannot be read":   {read: []int{500}, decision: "update; reason=changed", patched: 1},
		"closed, a secret": {closed: true, read: []int{403}, decision: "update; reason=changed", patched: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) { r.rule.Asks.Blind = true })
			r.first()
			id := s.make("")
			s.script["GET one"] = c.read
			if c.closed {
				s.close(id)
			}
			if c.gone {
				s.script["GET one"] = []int{404}
			}
			m := r.proxy().decided(worse("1"), bot...)
			if got := metadata(m, "decision") + "; reason=" + metadata(m, "reason"); got != c.decision || s.count("PATCH one") != c.patched {
				t.Errorf("%s, calls %v; want %s", got, s.calls, c.decision)
			}
		})
	}
}

// TestAnUpdateNamesTheTokenThatTheTicketWasMadeWith, and not the one that the
// request of the update would make one with.
func TestAnUpdateNamesTheTokenThatTheTicketWasMadeWith(t *testing.T) {
	own, said := "first", ""
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) {
		fault, update := r.rule.Fault, r.rule.Asks.Update
		r.rule.Fault = func(q *dedup.Request) (dedup.Fault, error) {
			f, err := fault(q)
			f.ClientToken = own
			return f, err
		}
		r.rule.Asks.Update = func(q *dedup.Request, t dedup.Ticket, token string, f dedup.Fault, reason dedup.Reason) (dedup.Call, bool) {
			said = token
			return update(q, t, token, f, reason)
		}
	})
	r.first()
	s.make("")
	own = "second"
	if m := r.proxy().decided(worse("1"), bot...); metadata(m, "decision") != "update" || said != "first" {
		t.Errorf("the update names %q; the client gets %v", said, m)
	}
}

// Where the client's own request is the update, it gets the answer to it.
func TestTheClientsOwnRequestIsTheUpdate(t *testing.T) {
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) { r.rule.OnUpdateForward = true })
	r.first()
	s.make("")
	m := r.proxy().decided(worse("1"), bot...)
	if a := m.GetImmediateResponse(); a.GetStatus().GetCode() != 201 || string(a.GetBody()) != `{"result":{"sys_id":"0002"}}` || len(s.bodies) != 1 || s.bodies[0] != worse("1") {
		t.Errorf("the client gets %v, the backend %q", m, s.bodies)
	}
	if m := r.proxy().decided(worse("1"), bot...); !isReplay(m) || len(s.bodies) != 1 {
		t.Errorf("again it gets %v, the backend %q", m, s.bodies)
	}
}

func TestAClearOfNothingIsAnsweredWhereTheRuleSaysSo(t *testing.T) {
	for _, answer := range []bool{false, true} {
		r, _ := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) {
			r.rule.OnClearedAnswer = answer
			r.rule.Fault = func(q *dedup.Request) (dedup.Fault, error) {
				f, err := faultOf(q)
				f.Fingerprint.Cleared = true
				return f, err
			}
		})
		m := r.proxy().decided(createBody, bot...)
		if got := m.GetImmediateResponse().GetStatus().GetCode() == 200; got != answer || metadata(m, "reason") != "unmatched_clear" {
			t.Errorf("the client gets %v", m)
		}
	}
}

// What a backend remembers of a token is read before it is believed.
func TestARememberedTicketIsReadBeforeItIsBelieved(t *testing.T) {
	for name, open := range map[string]bool{"open": true, "closed": false} {
		t.Run(name, func(t *testing.T) {
			r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, p *dedup.Policy) {
				p.Memory = dedup.Remembers
				r.rule.Judge = func(*dedup.Request, *dedup.Answer) dedup.Judgement {
					return dedup.Judgement{Says: dedup.SaysRemembered, Ticket: dedup.Ticket{ID: "0001"}}
				}
			})
			id := s.make("")
			if !open {
				s.close(id)
			}
			p := r.proxy()
			p.decided(createBody, bot...)
			p.ask(responseHeaders("201", false))
			p.send(responseBody(created1))
			m := p.last()
			if got := m.GetImmediateResponse() == nil; got != open || s.count("GET one") != 1 {
				t.Errorf("the client gets %v, calls %v", m, s.calls)
			}
		})
	}
}
