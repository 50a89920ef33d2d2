package dedup_test

import (
	"slices"
	"time"

	"oneticket/dedup"
)

// The world of the simulator: one key, one record cell with the semantics of
// dedup.Store, one ticket system, and requests that a schedule moves step by
// step on two replicas. Time is logical, in seconds.
type world struct {
	rules
	cfg *setting
	now int

	rec   dedup.Record // the cell; Version 0 = no record
	nonce string       // of the Swap that wrote it

	tickets   []ticket
	uncertain []string // tokens reported as possible doubles
	indexed   uint32   // tickets of which the store knows the record
	kept      uint32   // tickets whose close is kept
	webhooks  []int    // tickets whose close is on its way to us

	reqs    []request
	creates int          // decided so far
	left    [faults]int8 // how often each fault may still happen

	broken string // the first promise that did not hold
	steps  int
}

type ticket struct {
	open     bool
	applied  string // every severity that it ever had
	severity string
	token    string
	episode  int64
	created  int
	closedAt int
	silent   bool // closed by a person, and nobody has told us yet
	reported bool
	answered bool // the answer that names it reached us
	owned    bool // the record has held it
	excuse   excuse
	byPerson bool
}

// excuse says why a second open ticket is none of ours.
type excuse uint8

const (
	noExcuse      excuse = iota
	expiredExcuse        // the life of the record was over (by design)
	doubtExcuse          // nobody could tell what became of a create
)

var begin = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

func at(second int) time.Time { return begin.Add(time.Duration(second) * time.Second) }

// second is the inverse of at; zero times are long ago.
func second(t time.Time) int { return int(t.Sub(begin) / time.Second) }

func newWorld(cfg *setting, r rules) *world {
	w := &world{rules: r, cfg: cfg, left: cfg.faults}
	for _, want := range cfg.requests {
		w.reqs = append(w.reqs, request{wanted: want, sev: want.severity})
	}
	return w
}

func (w *world) clone() *world {
	c := *w
	c.tickets = slices.Clone(w.tickets)
	c.uncertain = slices.Clone(w.uncertain)
	c.webhooks = slices.Clone(w.webhooks)
	c.reqs = slices.Clone(w.reqs)
	return &c
}

func (w *world) clock() time.Time { return at(w.now) }

func (w *world) policy() *dedup.Policy { return &w.cfg.policy }

var ticketNames = [...]string{"T0", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10", "T11", "T12", "T13", "T14", "T15"}

func ticketNumber(id string) int { return slices.Index(ticketNames[:], id) }

// claim is Store.Claim.
func (w *world) claim(offer *dedup.Offer) {
	now := w.clock()
	switch {
	case offer == nil:
	case w.rec.State == dedup.Claimed && w.rec.Holder == offer.Holder && now.Before(w.rec.LeaseUntil):
	case !now.Before(w.rec.FreeAt):
		was := w.rec
		next := w.takeOffer(offer, was, now)
		w.write(next, "")
		w.ifExpired(was)
	case w.rec.State == dedup.Open && w.rec.Update == nil && w.rec.Fingerprint.Known() && w.rec.Fingerprint == offer.Fingerprint:
		w.extend(offer)
	}
}

// extend gives an open record the life of a claim that finds it open.
func (w *world) extend(offer *dedup.Offer) {
	until := w.clock().Add(offer.TTL)
	if end := w.rec.OpenedAt.Add(offer.MaxAge); offer.MaxAge > 0 && until.After(end) {
		until = end
	}
	if gain := until.Sub(w.rec.ExpiresAt); gain <= 0 || gain < offer.TTL/16 {
		return
	}
	next := w.rec
	next.ExpiresAt, next.FreeAt = until, until
	if keep := until.Add(offer.KeepOpen); keep.After(next.KeepUntil) {
		next.KeepUntil = keep
	}
	next.Version++
	w.write(next, "")
}

// swap is Store.Swap.
func (w *world) swap(seen int64, next dedup.Record, nonce string) (dedup.Record, bool) {
	if w.nonces && nonce == w.nonce && w.rec.Version == seen+1 {
		return w.rec, true
	}
	if w.rec.Version != seen {
		return dedup.Record{}, false
	}
	was := w.rec
	next.Version = seen + 1
	w.write(next, nonce)
	w.ifExpired(was)
	return w.rec, true
}

// write is the only place where the record changes.
func (w *world) write(next dedup.Record, nonce string) {
	w.checkWrite(next)
	w.rec, w.nonce = next, nonce
	w.index()
}

// ifExpired marks what an expired record leaves behind: by design its ticket
// may be open beside the next.
func (w *world) ifExpired(was dedup.Record) {
	if was.State != dedup.Open || w.rec.State != dedup.Claimed || w.rec.Episode == was.Episode || w.clock().Before(was.ExpiresAt) {
		return
	}
	for k := range w.tickets {
		if w.tickets[k].open && w.tickets[k].excuse == noExcuse {
			w.tickets[k].excuse = expiredExcuse
		}
	}
}

// index is Store.Ticket for a ticket that the record has come to hold: a close
// that was kept is written now. Between the Swap and this lies no other step
// here; in the shipped engine lie a few milliseconds.
func (w *world) index() {
	k := ticketNumber(w.rec.Ticket.ID)
	if k < 0 || (w.rec.State != dedup.Open && w.rec.State != dedup.Closed) {
		return
	}
	w.tickets[k].owned = true
	if w.rec.State == dedup.Open {
		w.tickets[k].reported = false // whoever keeps the reports withdraws it
	}
	if w.indexed&(1<<k) != 0 {
		return
	}
	w.indexed |= 1 << k
	if w.kept&(1<<k) == 0 || !w.keepClose {
		return
	}
	if next := w.closeTicket(w.rec, w.rec.Ticket.ID, w.policy(), w.clock()); next != nil {
		closed := *next
		closed.Version = w.rec.Version + 1
		w.write(closed, "")
	}
}

// webhook delivers the close of a ticket: KeepClose, then CloseTicket.
func (w *world) webhook(k int) {
	w.webhooks = slices.DeleteFunc(slices.Clone(w.webhooks), func(o int) bool { return o == k })
	w.tickets[k].silent = false
	if w.indexed&(1<<k) == 0 {
		w.kept |= 1 << k
		return
	}
	next := w.closeTicket(w.rec, ticketNames[k], w.policy(), w.clock())
	if next == nil {
		return
	}
	if own := ticketNumber(w.rec.Ticket.ID); w.rec.State == dedup.Open && own != k && own >= 0 && w.tickets[own].open {
		w.fail("a close acts on its own ticket only", "the close of T%d closed the record of T%d", k, own)
	}
	closed := *next
	closed.Version = w.rec.Version + 1
	w.write(closed, "")
}
