package dedup

import "time"

// Decide says what becomes of a claim that met rec at the time now of the
// store's clock. It is the table of doc.go.
func Decide(rec Record, c Claim, now time.Time) Decision {
	if rec.V > Format {
		return Decision{Kind: Pass}
	}
	if rec.State == "" || rec.State == None || (rec.Observed && !c.Policy.Observe) || rec.over(now) {
		return c.onNone(rec, now)
	}
	if c.cleared() && c.Met != 0 && rec.Episode > c.Met {
		// It waited in one episode and woke in the next, whose ticket it does not mean.
		return Decision{Kind: Suppress, Reason: Cleared}
	}
	switch rec.State {
	case Claimed:
		return c.onClaimed(rec, now)
	case Doubtful:
		return c.onDoubtful(rec, now)
	case Open:
		return c.onOpen(rec, now)
	default:
		return c.onClosed(rec, now)
	}
}

// onNone: no record, a stub, or what counts as none.
func (c *Claim) onNone(rec Record, now time.Time) Decision {
	if c.cleared() {
		return c.notOwed(Decision{Kind: Pass, Reason: UnmatchedClear}, rec, now)
	}
	return c.create(rec, First, now)
}

// notOwed is what a clear decides on a fault without an open ticket. A create
// that was taken back is then not to be sent again: its fault is over.
func (c *Claim) notOwed(d Decision, rec Record, now time.Time) Decision {
	if !rec.Owed || rec.over(now) || c.Policy.Observe {
		return d
	}
	next := rec.clone()
	next.Owed = false
	return c.decided(d, next, now)
}

func (c *Claim) onClaimed(rec Record, now time.Time) Decision {
	running := now.Before(rec.LeaseUntil)
	switch {
	case running && rec.Holder == c.Holder && rec.Looking:
		return Decision{Kind: LookUp}
	case running && rec.Holder == c.Holder:
		return Decision{Kind: Create, Reason: rec.createReason(), Uncertain: rec.leftBehind()}
	case running:
		return Decision{Kind: Wait, Until: rec.LeaseUntil}
	default:
		d := c.onDoubtful(c.Policy.lapsed(rec), now)
		if d.Next == nil { // written, so that everybody sees that it is in doubt
			next := c.Policy.lapsed(rec)
			d.Next = &next
		}
		return d
	}
}

// onDoubtful: something may have been sent, and nobody knows what came of it.
func (c *Claim) onDoubtful(rec Record, now time.Time) Decision {
	settled := rec.lastEnded().Add(c.Policy.Settle)
	switch {
	case c.foldsAgain():
		return c.retry(rec, Retried, now)
	case c.Policy.CanLookUp:
		return c.look(rec, now)
	case c.cleared():
		d := c.decided(Decision{Kind: Pass, Reason: UnmatchedClear}, c.Policy.closedInDoubt(rec, settled, now), now)
		d.DeadLetter = true
		return d
	case now.Before(settled):
		return Decision{Kind: Busy, Reason: IsBusy, Until: settled}
	default:
		return c.retry(rec, Retried, now)
	}
}

// foldsAgain reports whether the create may be sent again at any time: a backend
// that folds takes it into the ticket of the first, also where that lands later.
func (c *Claim) foldsAgain() bool {
	return c.Policy.Memory == Folds && !c.Fault.Unfolded && !c.cleared() && !c.seeks
}

func (c *Claim) onOpen(rec Record, now time.Time) Decision {
	if !now.Before(rec.ExpiresAt) && !c.cleared() {
		return c.create(rec, Expired, now)
	}
	if c.Policy.SuspectForward && c.strange(rec) {
		return Decision{Kind: Pass, Reason: Suspect}
	}
	changes := c.changes(rec)
	if u := rec.Update; u != nil {
		switch {
		case !now.Before(u.LeaseUntil):
			next := c.Policy.updateLapsed(rec, now)
			return Decision{Kind: Again, Next: &next}
		case u.Holder == c.Holder:
			return Decision{Kind: Update, Reason: Changed}
		case changes || u.Fingerprint.Cleared:
			return Decision{Kind: Wait, Until: u.LeaseUntil}
		}
	}
	if changes {
		return c.change(rec, now)
	}
	return c.refire(rec, now)
}

// changes reports whether the claim asks for a change of the open ticket.
func (c *Claim) changes(rec Record) bool {
	next := c.Fault.Fingerprint
	if !rec.Fingerprint.Changes(next) {
		return false
	}
	return !c.Policy.DowngradeIgnore || next.Cleared || !c.lower(rec.Fingerprint.Severity, next.Severity)
}

// lower reports whether the map says that the severity after is less than
// before; with one of them unknown to it, nothing is known.
func (c *Claim) lower(before, after string) bool {
	b, knownBefore := c.Policy.Severities[before]
	a, knownAfter := c.Policy.Severities[after]
	return knownBefore && knownAfter && a < b
}

func (c *Claim) change(rec Record, now time.Time) Decision {
	p := c.Policy
	if p.OnUpdateSuppress && !c.cleared() {
		return c.refire(rec, now)
	}
	if !p.CanUpdate {
		d := Decision{Kind: Update, Reason: Changed, NoCall: true}
		if next, due := c.extended(rec, now); due {
			return c.decided(d, next, now)
		}
		return d
	}
	if until := p.UpdateRate.free(rec.UpdatedAt); now.Before(until) && c.mayWait(rec) {
		return c.paced(rec, until, now)
	}
	if next, due := c.extended(rec, now); due {
		rec = next
	}
	return c.updateClaim(rec, Changed, now)
}

// refire is answered from the record; also a change of which the ticket is not
// told.
func (c *Claim) refire(rec Record, now time.Time) Decision {
	p := c.Policy
	reason := Refire
	switch {
	case c.Verified:
		reason = Verified
	case p.VerifyEvery > 0 && p.CanRead && rec.Ticket.ID != "" && !now.Before(rec.VerifiedAt.Add(p.VerifyEvery)):
		return Decision{Kind: Read}
	case c.changes(rec):
		reason = Changed
	case c.Waited:
		reason = Race
	}
	d := Decision{Kind: Suppress, Reason: reason, Forward: p.OnRefireForward}
	if next, due := c.extended(rec, now); due {
		return c.decided(d, next, now)
	}
	return d
}

func (c *Claim) onClosed(rec Record, now time.Time) Decision {
	p := c.Policy
	if u := rec.Update; u != nil {
		switch {
		case !now.Before(u.LeaseUntil):
			next := p.updateLapsed(rec, now)
			return Decision{Kind: Again, Next: &next}
		case u.Holder == c.Holder:
			return Decision{Kind: Update, Reason: updateReason(u)}
		default:
			return Decision{Kind: Wait, Until: u.LeaseUntil}
		}
	}
	switch {
	case c.cleared() && rec.InDoubt && rec.Ticket.ID != "" && p.CanUpdate:
		return c.updateClaim(rec, Changed, now)
	case c.cleared():
		return c.notOwed(Decision{Kind: Suppress, Reason: Cleared}, rec, now)
	case rec.InDoubt && now.Before(rec.LandsUntil):
		return Decision{Kind: Busy, Reason: IsBusy, Until: rec.LandsUntil}
	case len(rec.Attempts) > 0 && p.CanLookUp:
		return c.look(rec, now)
	case rec.InDoubt:
		return c.onClosedInDoubt(rec, now)
	case p.reopens(rec) && now.Before(rec.ClosedAt.Add(p.ReopenWithin)):
		return c.updateClaim(rec, Reopened, now)
	default:
		return c.create(rec, WasClosed, now)
	}
}

func updateReason(u *UpdateClaim) Reason {
	if u.Reopening && !u.Fingerprint.Cleared {
		return Reopened
	}
	return Changed
}

// onClosedInDoubt: the clear or reopening before can no longer land, so the
// ticket tells what became of it.
func (c *Claim) onClosedInDoubt(rec Record, now time.Time) Decision {
	if c.Policy.CanRead && rec.Ticket.ID != "" {
		return Decision{Kind: Read}
	}
	return c.abandon(rec, now)
}

// abandon opens the next episode although the old ticket may be open still.
func (c *Claim) abandon(rec Record, now time.Time) Decision {
	d := c.create(rec, WasClosed, now)
	if rec.Ticket.ID != "" {
		d.Duplicates = []Ticket{rec.Ticket}
	} else {
		d.Uncertain = rec.Token
	}
	return d
}
