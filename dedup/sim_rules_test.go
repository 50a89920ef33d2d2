package dedup_test

import (
	"time"

	"oneticket/dedup"
)

// rules are the functions that the simulator drives: the shipped ones, or one
// of them deliberately broken (see sim_mutants_test.go).
type rules struct {
	offer               func(dedup.Claim) *dedup.Offer
	takeOffer           func(*dedup.Offer, dedup.Record, time.Time) dedup.Record
	decide              func(dedup.Record, dedup.Claim, time.Time) dedup.Decision
	afterLookUp         func(dedup.Record, dedup.Claim, dedup.LookUpResult, time.Time) dedup.Decision
	afterRead           func(dedup.Record, dedup.Claim, dedup.ReadResult, time.Time) dedup.Decision
	settle              func(dedup.Record, dedup.Send, dedup.Outcome, *dedup.Policy, time.Time) dedup.Settlement
	afterRememberedRead func(dedup.Record, dedup.Send, dedup.Outcome, dedup.ReadResult, *dedup.Policy, time.Time) dedup.Settlement
	settleUpdate        func(dedup.Record, dedup.Change, dedup.UpdateOutcome, *dedup.Policy, time.Time) dedup.Settlement
	escalate            func(dedup.Record, dedup.Claim, time.Time) dedup.Decision
	closeTicket         func(dedup.Record, string, *dedup.Policy, time.Time) *dedup.Record

	// What the shell around the pure functions does (Hold.Ready, the index of
	// tickets, the nonce of a Swap), for the mutants of those rules.
	ready     func(sinceClaim, exchange, lease int) bool
	overtaken func(dedup.Send, dedup.Found) bool
	unowed    func(dedup.Record) bool
	keepClose bool
	nonces    bool
}

func shipped() rules {
	return rules{
		offer:               func(c dedup.Claim) *dedup.Offer { return c.Offer() },
		takeOffer:           func(o *dedup.Offer, rec dedup.Record, now time.Time) dedup.Record { return o.Take(rec, now) },
		decide:              dedup.Decide,
		afterLookUp:         dedup.AfterLookUp,
		afterRead:           dedup.AfterRead,
		settle:              dedup.Settle,
		afterRememberedRead: dedup.AfterRememberedRead,
		settleUpdate:        dedup.SettleUpdate,
		escalate:            dedup.Escalate,
		closeTicket:         dedup.CloseTicket,
		ready:               func(sinceClaim, exchange, lease int) bool { return sinceClaim+exchange < lease },
		overtaken:           dedup.Overtaken,
		unowed:              dedup.Unowed,
		keepClose:           true,
		nonces:              true,
	}
}
