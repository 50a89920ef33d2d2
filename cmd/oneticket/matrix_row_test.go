package main_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"oneticket/dedup"
)

// A row is one fault, and what becomes of it.
type row struct {
	failure *failure
	kind    *deskKind
	leaves  bool // the client goes away before it has an answer
	again   bool // it sends again until it has a ticket
	refires bool // long after that, the fault is there still, and somebody asks once more
	desk    *sickDesk
	url     string

	creates atomic.Int64 // that reached the desk
	failed  atomic.Int64 // when the first of them had failed, by our clock
	seen    chan struct{}
	left    chan struct{}
	once    sync.Once

	saw []answer // in order; written by the client only
}

func newRow(f *failure, k *deskKind, leaves, again bool) *row {
	return &row{failure: f, kind: k, leaves: leaves, again: again, seen: make(chan struct{}), left: make(chan struct{})}
}

func (r *row) String() string {
	waits, once := "waits", "once"
	if r.leaves {
		waits = "leaves"
	}
	if r.again {
		once = "again"
	}
	return strings.Join([]string{r.failure.name, r.kind.name, waits, once}, ", ")
}

// backend is the name of the backend block that the row's requests go through.
func (r *row) backend() string { return backendName(r.failure, r.kind) }

// key is that of the fault, as any program can compute it.
func (r *row) key() dedup.Key {
	return dedup.KeyOf("element_id=" + strings.ToLower(r.String()) + "|fault_class=link")
}

// meet lets the client know that its create is at the desk; one that leaves has
// left when it returns.
func (r *row) meet() {
	r.once.Do(func() { close(r.seen) })
	if r.leaves {
		<-r.left
	}
}

// asks reports whether the create is sent more than once.
func (r *row) asks() bool { return r.again || r.refires }

// down reports whether the ticket system is never to be had.
func (r *row) down() bool { return r.failure.place != nil && !r.failure.place.heals }

// send is one request of the client; it ends with ctx.
func (r *row) send(ctx context.Context, c *http.Client) answer {
	body := strings.NewReader(fault(r.String(), len(r.saw)))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/api/now/table/incident", body)
	if err != nil {
		return answer{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("bot", "secret")
	res, err := c.Do(req)
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	a, err := answerIn(res)
	if err != nil {
		return answer{}
	}
	return a
}

// first sends the create for the first time. A client that leaves does so when
// the desk has it, or, where no desk sees it, when it is claimed.
func (r *row) first(ctx context.Context, c *http.Client, claimed func() bool) {
	if !r.leaves {
		r.saw = append(r.saw, r.send(ctx, c))
		return
	}
	ctx, leave := context.WithCancel(ctx)
	defer close(r.left)
	done := make(chan answer, 1)
	go func() { done <- r.send(ctx, c) }()
	if r.failure.place == nil {
		<-r.seen
	}
	for r.failure.place != nil && len(done) == 0 && !claimed() {
		time.Sleep(10 * time.Millisecond)
	}
	leave()
	r.saw = append(r.saw, <-done)
}

// How a client sends again: as it was told, only sooner, and not for ever.
const (
	againAfter = 700 * time.Millisecond
	againFor   = 30 * time.Second
	againDown  = 3 // requests in all to what is never to be had
)

// repeat sends again until there is a ticket.
func (r *row) repeat(ctx context.Context, c *http.Client) {
	for end := time.Now().Add(againFor); r.asks() && time.Now().Before(end); {
		if r.down() && len(r.saw) >= againDown {
			return
		}
		time.Sleep(againAfter)
		a := r.send(ctx, c)
		if r.saw = append(r.saw, a); a.status == http.StatusCreated && a.ticket() != "" {
			return
		}
	}
}

// last is the last answer.
func (r *row) last() answer {
	if len(r.saw) == 0 {
		return answer{}
	}
	return r.saw[len(r.saw)-1]
}

// statuses are what the client saw, for a person.
func (r *row) statuses() string {
	var all []string
	for _, a := range r.saw {
		one := fmt.Sprint(a.status)
		if a.ticket() != "" {
			one += " " + cmp.Or(strings.TrimLeft(a.ticket(), "0"), "?")
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

// findable reports whether the ticket was there to be found when the create
// failed, and somebody could still tell the client.
func (r *row) findable() bool {
	if !r.kind.finds || r.leaves || !r.failure.commits || r.failure.late || r.failure.cut {
		return false
	}
	tickets := r.desk.of(r.String())
	return len(tickets) > 0 && !tickets[0].at.Add(r.kind.lag).After(time.Unix(0, r.failed.Load()))
}

// doubles reports whether a second ticket can be ruled out by nobody: the
// create may have made one, it cannot be looked up, and the client asks for it
// once more. A desk that can be reached again in the very moment in which a try
// is given up may have taken it.
func (r *row) doubles() bool {
	commits := r.failure.commits || r.failure.place != nil && r.failure.place.heals
	return commits && r.asks() && !r.kind.finds && !r.kind.remembers
}

// known reports whether the ticket must be known in the end: the client asks
// for it once more, it can be looked up, or the first create surely made none.
// What a desk says to a client that has gone is heard by nobody.
func (r *row) known() bool {
	unmade := r.failure.unmade && (r.failure.place != nil || !r.leaves)
	return !r.down() && (r.asks() || r.kind.finds || unmade)
}

// An end is what is there of a row in the end.
type end struct {
	tickets []sickTicket
	record  dedup.Record
	letters int
}

// verdict says what is wrong with it; nothing where all is well.
func (r *row) verdict(e end) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch n := len(e.tickets); {
	case n == 0 && r.known():
		say("no ticket")
	case n == 0 && e.letters == 0:
		say("lost: no ticket and no dead letter")
	case n > 1 && !r.doubles():
		say("doubled")
	}
	isThere := func(id string) bool {
		return slices.ContainsFunc(e.tickets, func(t sickTicket) bool { return t.id == id })
	}
	for _, a := range r.saw {
		if id := a.ticket(); id != "" && !isThere(id) {
			say("a client was told of %s, which is not there", id)
		}
	}
	if r.findable() && r.saw[0].ticket() == "" {
		say("told of %d although the ticket could be found", r.saw[0].status)
	}
	if r.asks() && !r.down() && r.last().ticket() == "" {
		say("the client never got its ticket")
	}
	return append(wrong, r.wrongRecord(e, isThere)...)
}

// wrongRecord compares the record with what is there.
func (r *row) wrongRecord(e end, isThere func(id string) bool) (wrong []string) {
	state := e.record.State
	switch {
	case state == dedup.Open && !isThere(e.record.Ticket.ID):
		wrong = append(wrong, "the record has ticket "+e.record.Ticket.ID+", which is not there")
	case r.known() && state != dedup.Open:
		wrong = append(wrong, "the record is "+string(state))
	case state == dedup.Claimed && e.record.LeaseUntil.Before(time.Now()):
		wrong = append(wrong, "a claim was left behind")
	case state == dedup.Open && e.letters > 0:
		wrong = append(wrong, fmt.Sprintf("%d dead letters beside the ticket", e.letters))
	}
	return wrong
}
