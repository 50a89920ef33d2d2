package dedup

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// A Claim is what one request asks of the record of its key.
type Claim struct {
	Fault  Fault
	Policy *Policy
	Holder string // random, and new for every attempt to send
	Config string // hash of the configuration, for the trail
	By     string // name of the replica, for the trail

	Waited   bool  // it has waited for another holder
	Met      int64 // the episode that it met when it began to wait; 0 = it did not wait
	Verified bool  // the ticket was read for this claim, and is open

	Bearer Bearer // who asks: what the backend shows on behalf of this claim, it shows to them

	seeks bool // it sends nothing: it only wants to know whether the ticket is there

	// For an Engine only; Decide does not look at them.
	Wait     time.Duration       // how long to wait for the first of duplicates, in all
	Exchange time.Duration       // what is needed of the lease when the create is let go
	Caller   func() string       // equal for equal credentials and body: a refusal is handed to waiters with an equal one; nil, "" = to none. Asked only of one that waits or is refused
	OnWait   func(time.Duration) // called once, before the first wait, with the longest time it may still take
	Backend  Backend             // who is asked on behalf of the request; nil = nobody

	rule      *Policy // the rule's own, where Policy is that of a provisional decision
	apart     bool    // where it met what it waits for: in the embedded store
	forgotten bool    // the store has lost what it knew
}

// undecided makes it a claim for whatever store will answer it.
func (c *Claim) undecided() {
	if c.rule != nil {
		c.Policy, c.rule = c.rule, nil
	}
}

// decidedBy makes the claim one of the store that has answered it.
func (c *Claim) decidedBy(found Found) {
	if found.Provisional && !c.Policy.Provisional {
		c.rule = c.Policy
		provisional := *c.Policy
		provisional.Provisional = true
		c.Policy = &provisional
	}
	if c.Waited && c.apart != found.Provisional { // the episodes of one are no episodes of the other
		c.Met, c.apart = 0, found.Provisional
	}
}

func (c *Claim) caller() string {
	if c.Caller == nil {
		return ""
	}
	return c.Caller()
}

func (c *Claim) cleared() bool { return c.Fault.Fingerprint.Cleared }

// Offer is what the claim writes when the record is free; nil for a clear,
// which never creates.
func (c *Claim) Offer() *Offer {
	if c.cleared() {
		return nil
	}
	p, token := c.Policy, c.tokenRule()
	if p.Provisional {
		token = token.Provisional()
	}
	return &Offer{
		Holder:      c.Holder,
		Fingerprint: c.Fault.Fingerprint,
		Token:       token,
		Identity:    []byte(c.Fault.Identity),
		Class:       c.Fault.Class,
		Lease:       p.Lease,
		Keep:        p.keepDoubt(),
		Provisional: p.Provisional,
		TTL:         p.TTL,
		MaxAge:      p.MaxAge,
		KeepOpen:    p.keep(),
	}
}

// tokenRule says what the backend gets as the key: what the client itself has
// set, or a form of the key that a backend which remembers does not mistake
// for an episode that is over.
func (c *Claim) tokenRule() TokenRule {
	p := c.Policy
	rule := TokenRule{Given: c.Fault.ClientToken, Key: c.Fault.Ref.Key, Style: EpisodeToken}
	rule.Alone = p.Memory != Folds && !(p.Memory == Remembers && p.CanRead)
	switch {
	case p.Memory == Folds:
		rule.Style = PlainToken
	case p.Memory == Remembers && p.MemoryFor == 0:
		rule.Style = TimeToken
	}
	if c.forgotten && p.Memory == Remembers && rule.Alone {
		return rule.Provisional()
	}
	return rule
}

// Provisional is the rule for a create that another replica may send as well,
// because the store is out of reach or has lost what it knew. Where the backend
// folds, or its tickets can be read before they are believed, replicas still
// meet under one token; else the token is one that no episode ever has.
func (t TokenRule) Provisional() TokenRule {
	if t.Given == "" && t.Alone {
		b := make([]byte, 4)
		rand.Read(b) // never fails
		t.Given = string(t.Key) + ".p" + hex.EncodeToString(b)
	}
	return t
}

// Take returns what the offer makes of the record rec at the time now. Every
// store's Claim writes exactly this over a free record.
func (o *Offer) Take(rec Record, now time.Time) Record {
	prior := rec.clone()
	prior.Prior = nil
	if prior.State == "" {
		prior = Record{V: Format, State: None}
	}
	next := Record{
		V: Format, State: Claimed,
		Version: rec.Version + 1, Episode: rec.Episode + 1, Sends: 1,
		Identity: o.Identity, Class: o.Class, Fingerprint: o.Fingerprint,
		Holder: o.Holder, LeaseUntil: now.Add(o.Lease),
		ClaimedAt: now, SentAt: now, SeenAt: now,
		KeepUntil:   latest(rec.KeepUntil, now.Add(o.Keep)),
		Provisional: o.Provisional,
		Prior:       &prior,
		Trail:       rec.Trail,
	}
	next.FreeAt = next.KeepUntil
	next.Token = o.Token.Token(next.Episode, now)
	return next
}

// createReason tells from a claimed record why its holder creates.
func (r *Record) createReason() Reason {
	switch {
	case r.Sends > 1 || len(r.Attempts) > 0:
		return Retried
	case r.Provisional:
		return StoreDown
	case r.Prior == nil || r.Prior.Observed || r.Prior.State == None || r.Prior.over(r.ClaimedAt):
		return First
	case r.Prior.State == Open:
		return Expired
	case r.Prior.State == Closed:
		return WasClosed
	default:
		return First
	}
}

// create is the decision to open the next episode.
func (c *Claim) create(rec Record, reason Reason, now time.Time) Decision {
	next := c.Offer().Take(rec, now)
	if c.Policy.Provisional {
		reason = StoreDown
	}
	return c.decided(Decision{Kind: Create, Reason: reason, Uncertain: next.leftBehind()}, next, now)
}

// leftBehind is the token of an earlier episode that may have made another
// ticket than the one which is known of it; empty when there is none.
func (r *Record) leftBehind() string {
	if p := r.Prior; p != nil && r.Sends == 1 && len(p.Attempts) > 0 && p.Token != r.Token {
		return p.Token
	}
	return ""
}

// retry is the decision to send again in the same episode, with its token.
func (c *Claim) retry(rec Record, reason Reason, now time.Time) Decision {
	next := c.hold(rec, now)
	next.Looking = false
	next.Sent = false
	next.Sends++
	next.SentAt = now
	next.Fingerprint = c.Fault.Fingerprint
	return c.decided(Decision{Kind: Create, Reason: reason}, next, now)
}

// look is the decision to look the token up, under a claim that sends nothing.
func (c *Claim) look(rec Record, now time.Time) Decision {
	next := c.hold(rec, now)
	next.Looking = true
	if rec.State == Closed {
		prior := rec.clone()
		prior.Prior = nil
		next.Prior = &prior
	}
	return Decision{Kind: LookUp, Next: &next}
}

// hold makes the claim the holder of an episode that is under way.
func (c *Claim) hold(rec Record, now time.Time) Record {
	next := rec.clone()
	next.State = Claimed
	next.Holder = c.Holder
	next.LeaseUntil = now.Add(c.Policy.Lease)
	next.ClaimedAt, next.SeenAt = now, now
	next.KeepUntil = latest(rec.KeepUntil, now.Add(c.Policy.keepDoubt()))
	next.FreeAt = next.KeepUntil
	return next
}

// updateClaim is the decision to send one update of the record's ticket.
func (c *Claim) updateClaim(rec Record, reason Reason, now time.Time) Decision {
	next := rec.clone()
	next.Update = &UpdateClaim{
		Holder:      c.Holder,
		LeaseUntil:  now.Add(c.Policy.Lease),
		Fingerprint: c.Fault.Fingerprint,
		Reopening:   rec.State == Closed,
	}
	next.SeenAt = now
	next.UpdatedAt = c.Policy.UpdateRate.with(next.UpdatedAt, now)
	next.Owed = next.Owed && !c.cleared()
	next = c.settled(next, now)
	return c.decided(Decision{Kind: Update, Reason: reason}, next, now)
}

// decided puts the decision and the record that goes with it together.
func (c *Claim) decided(d Decision, next Record, now time.Time) Decision {
	next.Trail = trail(next.Trail, Trace{At: now, Kind: d.Kind, Reason: d.Reason, Config: c.Config, By: c.By})
	d.Next = &next
	return d
}

func trail(old []Trace, t Trace) []Trace {
	kept := old[max(0, len(old)-TrailLength+1):]
	return append(append(make([]Trace, 0, len(kept)+1), kept...), t)
}

// Token makes the token of the episode that is claimed at the time now.
func (t TokenRule) Token(episode int64, now time.Time) string {
	switch {
	case t.Given != "":
		return t.Given
	case t.Style == TimeToken:
		return string(t.Key) + "." + itoa(now.Unix())
	case t.Style == EpisodeToken && episode > 1:
		return string(t.Key) + "." + itoa(episode)
	default:
		return string(t.Key)
	}
}
