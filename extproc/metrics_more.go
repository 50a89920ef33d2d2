package extproc

import (
	"time"

	"oneticket/dedup"
)

// counting is what a Metrics may have beside, each by itself; what it lacks is
// not counted.
type counting struct {
	calls   CallMetrics
	heals   HealMetrics
	letters LetterMetrics
	updates UpdateMetrics
	lives   LifeMetrics
}

// CallMetrics is what a Metrics may have beside: how outside calls ended.
type CallMetrics interface {
	LookedUp(backend, result string) // open, closed, absent or unanswered
	Verified(backend, result string) // open, closed, gone or unanswered
}

// HealMetrics is what a Metrics may have beside: what became of creates without
// a ticket.
type HealMetrics interface {
	Healed(rule string)                            // its ticket was found
	Resent(rule string, outcome dedup.OutcomeKind) // it was sent again, with that outcome
	NotFollowed(rule string)                       // too many of them are held already
}

// LetterMetrics is what a Metrics may have beside.
type LetterMetrics interface {
	DeadLetter(rule string, kept bool) // a create without a ticket was kept, or could not be
}

// UpdateMetrics is what a Metrics may have beside.
type UpdateMetrics interface {
	UpdateFailed(rule string) // a change did not reach its ticket
}

func countingOf(m Metrics) (c counting) {
	c.calls, _ = m.(CallMetrics)
	c.heals, _ = m.(HealMetrics)
	c.letters, _ = m.(LetterMetrics)
	c.updates, _ = m.(UpdateMetrics)
	c.lives, _ = m.(LifeMetrics)
	return c
}

func (c counting) LookedUp(backend, result string) {
	if c.calls != nil {
		c.calls.LookedUp(backend, result)
	}
}

func (c counting) Verified(backend, result string) {
	if c.calls != nil {
		c.calls.Verified(backend, result)
	}
}

func (c counting) Healed(rule string) {
	if c.heals != nil {
		c.heals.Healed(rule)
	}
}

func (c counting) Resent(rule string, outcome dedup.OutcomeKind) {
	if c.heals != nil {
		c.heals.Resent(rule, outcome)
	}
}

func (c counting) Dropped(rule string) {
	if c.heals != nil {
		c.heals.NotFollowed(rule)
	}
}

func (c counting) Lettered(rule string, err error) {
	if c.letters != nil {
		c.letters.DeadLetter(rule, err == nil)
	}
}

func (c counting) UpdateFailed(rule string) {
	if c.updates != nil {
		c.updates.UpdateFailed(rule)
	}
}

func (c counting) Refired(rule, class string, gap time.Duration) {
	if c.lives != nil {
		c.lives.Refired(rule, class, gap)
	}
}

func (c counting) ExpiredOpen(rule, class string) {
	if c.lives != nil {
		c.lives.ExpiredOpen(rule, class)
	}
}
