package failover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// journaled are the keys that have an outcome in the journal. Until it is
// written, this replica takes no new claim of such a key to the shared store.
type journaled struct {
	mu   sync.Mutex
	keys map[dedup.Ref]int
	adds int64
}

func (j *journaled) add(ref dedup.Ref) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.keys == nil {
		j.keys = map[dedup.Ref]int{}
	}
	j.keys[ref]++
	j.adds++
}

func (j *journaled) has(ref dedup.Ref) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.keys[ref] > 0
}

func (j *journaled) remove(ref dedup.Ref) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.keys[ref]--; j.keys[ref] <= 0 {
		delete(j.keys, ref)
	}
}

// read is called before the journal is read, and what it returns with how many
// entries each key has: another process may have written some, or applied them.
func (j *journaled) read() (counted func(map[dedup.Ref]int)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	seen := j.adds
	return func(of map[dedup.Ref]int) {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.adds != seen { // some may not have been read
			for ref, n := range j.keys {
				of[ref] = max(of[ref], n)
			}
		}
		j.keys = of
	}
}

// journalKept is far longer than an outage; what is older is of no record any more.
const journalKept = 30 * 24 * time.Hour

// KeepOutcome is dedup.Journal's. Where the record is known then, re-fires are
// answered from that.
func (s *Store) KeepOutcome(ctx context.Context, late dedup.Late) error {
	text, err := lateText(late)
	if err != nil {
		return err
	}
	if err := s.keepLate(ctx, late.Ref, late.Send.Holder, text); err != nil {
		return err
	}
	if !late.Provisional {
		s.flights.landed(late.Ref, late.Send.Holder)
	}
	if late.Next != nil {
		s.mirrorOutcome(ctx, late)
	}
	s.kick()
	return nil
}

// mirrorOutcome has the embedded store know what came of the create. It is best
// effort: a re-fire that does not meet it is one more create, and reported.
func (s *Store) mirrorOutcome(ctx context.Context, late dedup.Late) {
	if !late.Provisional {
		s.mirror.now(ctx, late.Ref, *late.Next)
		_ = s.rewrite(ctx, named(ownName, late.Ref), func(own dedup.Found) *dedup.Record { return settledCopy(own, late) })
		return
	}
	if found, err := s.local.Get(ctx, named(ownName, late.Ref)); err == nil && late.Next.State == dedup.Open {
		next := *late.Next
		next.Prior = nil
		s.mirror.write(ctx, mirrored{ref: late.Ref, rec: next, now: found.Now})
	}
}

// settledCopy is the copy of the claim after its outcome; nil where there is none.
func settledCopy(own dedup.Found, late dedup.Late) *dedup.Record {
	rec, send := own.Record, late.Send
	if rec.State != dedup.Claimed || rec.Holder != send.Holder {
		return nil
	}
	send.Episode, send.Token = rec.Episode, rec.Token
	st := dedup.Settle(rec, send, late.Outcome, &late.Policy, own.Now)
	if st.Read && late.Read != nil {
		st = dedup.AfterRememberedRead(rec, send, late.Outcome, *late.Read, &late.Policy, own.Now)
	}
	return st.Next
}

// keepUnsent keeps that a claim whose reply was lost was not followed: the
// holder has gone on with the embedded store.
func (s *Store) keepUnsent(ctx context.Context, ref dedup.Ref, holder string) error {
	policy := s.rule(ref, dedup.Record{}).Policy
	text, err := lateText(dedup.Late{
		Ref: ref, Send: dedup.Send{Holder: holder}, Outcome: dedup.Outcome{Kind: dedup.OutcomeNeverSent}, Policy: *policy,
	})
	if err != nil {
		return err
	}
	return s.keepLate(ctx, ref, holder, text)
}

// keepLate writes the entry of one holder; a later one takes its place.
func (s *Store) keepLate(ctx context.Context, ref dedup.Ref, holder string, text []byte) error {
	defer s.touch()()
	at := journalRef(ref, holder)
	for {
		was, err := s.local.Get(ctx, at)
		if err != nil {
			return err
		}
		s.pending.add(ref)
		_, err = s.local.Swap(ctx, at, was.Record.Version, dedup.Record{
			V: dedup.Format, State: dedup.Doubtful, Identity: text, KeepUntil: was.Now.Add(journalKept),
		}, "")
		if err == nil && !live(was.Record) {
			return nil
		}
		s.pending.remove(ref)
		if !errors.Is(err, dedup.ErrConflict) {
			return err
		}
	}
}

func journalRef(ref dedup.Ref, holder string) dedup.Ref {
	return dedup.Ref{Rule: journalName, Scope: ref.Rule + between + ref.Scope + between + string(ref.Key), Key: dedup.Key(holder)}
}

// lateForm is an entry of the journal. Text that may be anything is bytes.
type lateForm struct {
	Ref         dedup.Ref
	Scope       dedup.TicketScope
	Send        dedup.Send
	Token       []byte
	Kind        dedup.OutcomeKind
	Ticket      dedup.Ticket
	New         bool
	Bearer      dedup.Bearer
	Read        *dedup.ReadResult
	Policy      dedup.Policy
	Next        *recordjson.Packed // has the response, too
	Provisional bool
}

func lateText(late dedup.Late) ([]byte, error) {
	form := lateForm{
		Ref: late.Ref, Scope: late.Scope, Send: late.Send, Token: []byte(late.Send.Token),
		Kind: late.Outcome.Kind, Ticket: late.Outcome.Ticket, New: late.Outcome.New, Bearer: late.Outcome.Bearer,
		Read: late.Read, Policy: late.Policy, Provisional: late.Provisional,
	}
	if late.Next != nil {
		packed, err := recordjson.Pack(*late.Next)
		if err != nil {
			return nil, err
		}
		form.Next = &packed
	}
	return json.Marshal(form)
}

func lateOf(text []byte) (dedup.Late, error) {
	var form lateForm
	if err := json.Unmarshal(text, &form); err != nil {
		return dedup.Late{}, fmt.Errorf("journal: %w", err)
	}
	late := dedup.Late{
		Ref: form.Ref, Scope: form.Scope, Send: form.Send, Read: form.Read, Policy: form.Policy, Provisional: form.Provisional,
		Outcome: dedup.Outcome{Kind: form.Kind, Ticket: form.Ticket, New: form.New, Bearer: form.Bearer},
	}
	late.Send.Token = string(form.Token)
	if form.Next != nil {
		next, err := form.Next.Unpack()
		if err != nil {
			return dedup.Late{}, fmt.Errorf("journal: %w", err)
		}
		late.Next = &next
		late.Outcome.Response = next.Response
	}
	return late, nil
}
