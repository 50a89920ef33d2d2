package extproc

import (
	"math"
	"math/bits"
	"time"

	"oneticket/dedup"
)

// LifeMetrics is what a Metrics may have beside: whether keys live as long as
// their faults do.
type LifeMetrics interface {
	// Refired: a fault that has a ticket was seen again after the gap, by this replica.
	Refired(rule, class string, gap time.Duration)
	// ExpiredOpen: a fault came back to a key whose life was over.
	ExpiredOpen(rule, class string)
}

// lived counts what the request tells of its fault's life, once it is decided.
func (x *exchange) lived(rule *Rule, fault dedup.Fault, v dedup.Verdict) {
	if v.Kind == dedup.Update && !v.UpdateFailed && v.Refusal == nil {
		x.server.churned(rule, fault, v)
	}
	if fault.Fingerprint.Cleared || x.replaying != nil {
		return
	}
	gap, known := x.server.seen.see(fault.Ref, x.started)
	switch {
	case v.Kind == dedup.Create && v.Reason == dedup.Expired:
		x.server.expired(rule, fault, v.Record, gap, known)
	case known && refires(v):
		x.server.count.Refired(rule.Name, fault.Class, gap)
	}
}

// refires reports whether the fault had a ticket already. A race is no gap.
func refires(v dedup.Verdict) bool {
	switch v.Reason {
	case dedup.Refire, dedup.Verified, dedup.Changed, dedup.Reopened:
		return true
	}
	return false
}

// expired says of a ticket that was opened beside one that is open for all we
// know which setting would have kept it from being opened.
func (s *Server) expired(rule *Rule, fault dedup.Fault, rec dedup.Record, gap time.Duration, known bool) {
	s.count.ExpiredOpen(rule.Name, fault.Class)
	prior := rec.Prior
	if prior == nil {
		return
	}
	if byRecord := rec.ClaimedAt.Sub(prior.SeenAt); !known || byRecord < gap { // another replica may have seen it since
		gap = byRecord
	}
	s.count.Refired(rule.Name, fault.Class, gap)
	p := rule.policy(fault.Class)
	args := []any{"rule", rule.Name, "class", fault.Class, "key", fault.Ref.Key, "ticket", prior.Ticket.ID, "gap", gap.Round(time.Second)}
	if p.MaxAge > 0 && !prior.ExpiresAt.Before(prior.OpenedAt.Add(p.MaxAge)) {
		s.o.Log.Warn("a fault outlived max_age: it gets another ticket beside the one that is open for all we know",
			append(args, "max_age", p.MaxAge, "age", rec.ClaimedAt.Sub(prior.OpenedAt).Round(time.Second))...)
		return
	}
	s.o.Log.Warn("a key expired under an open fault: the ttl is shorter than the gap between its re-fires, and it gets another ticket",
		append(args, "ttl", p.TTL, "ttl_that_would_have_held", wouldHold(gap))...)
}

// wouldHold is a ttl, as somebody would write it, that holds over the gap: a
// life is extended only when a sixteenth of the ttl has passed since the last
// time, so the ttl has to be longer than the gap by as much.
func wouldHold(gap time.Duration) time.Duration {
	least := gap + gap/15
	step := time.Second
	switch {
	case least > 6*time.Hour:
		step = time.Hour
	case least > time.Hour:
		step = 10 * time.Minute
	case least > time.Minute:
		step = time.Minute
	}
	return (least/step + 1) * step
}

// churnFrom is how many updates one ticket may have before that is told.
const churnFrom = 4

// churned says of a ticket that is updated again and again which field it is
// that changes: at the fourth update, the eighth, the sixteenth ...
func (s *Server) churned(rule *Rule, fault dedup.Fault, v dedup.Verdict) {
	n := v.Record.Updates
	if n < churnFrom || n > math.MaxInt32 || bits.OnesCount64(uint64(n)) != 1 {
		return
	}
	field, was, is := "severity", v.Was.Severity, fault.Fingerprint.Severity
	if v.Was.Cleared != fault.Fingerprint.Cleared || v.Reason == dedup.Reopened {
		field, was, is = "cleared", "", ""
	}
	args := []any{"rule", rule.Name, "key", fault.Ref.Key, "ticket", v.Record.Ticket.ID, "updates", n, "field", field}
	if field == "severity" {
		args = append(args, "was", was, "is", is)
	}
	s.o.Log.Warn("a ticket is updated again and again: a field of the fingerprint churns", args...)
}
