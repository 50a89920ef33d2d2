package failover

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"oneticket/dedup"
)

// An Entry is one thing that an outage has left, and what came of it.
type Entry struct {
	At       time.Time        `json:"at"` // when it was reconciled
	Opened   time.Time        `json:"opened,omitzero"`
	Episode  int64            `json:"episode,omitzero"` // as the embedded store counted
	Rule     string           `json:"rule"`
	Scope    string           `json:"scope,omitzero"`
	Key      dedup.Key        `json:"key"`
	Identity string           `json:"identity,omitzero"`
	Result   dedup.Reconciled `json:"result"`
	Ticket   string           `json:"ticket,omitzero"`   // which it is about
	Location string           `json:"location,omitzero"` // of that ticket
	Token    string           `json:"token,omitzero"`    // which may have made a ticket
	Beside   string           `json:"beside,omitzero"`   // the ticket of the key itself

	Merge dedup.MergeResult `json:"merge,omitzero"` // of a double that needs no merging any more
}

// Made reports whether the create of the entry's episode surely made a ticket.
func (e Entry) Made() bool {
	switch e.Result {
	case dedup.TakenOver, dedup.SameTicket:
		return e.Episode > 0
	case dedup.Double, dedup.Over:
		return e.Episode > 0 && e.Ticket != ""
	default:
		return false
	}
}

// maxEntries bounds what is kept of them; the oldest go.
const maxEntries = 1000

// entryKept is how long they are kept at most.
const entryKept = 30 * 24 * time.Hour

// Entries returns what was opened while the shared store was away and what came
// of it, the oldest first.
func (s *Store) Entries(ctx context.Context) ([]Entry, error) {
	if s.Away() {
		return Entries(ctx, s.local, nil)
	}
	return Entries(ctx, s.local, s.shared)
}

// Entries reads them from an embedded store. A double whose ticket has become
// the key's own since is none: that is known of what came later here, and of
// the shared store where that can be asked (nil: it cannot).
func Entries(ctx context.Context, local, shared dedup.Store) ([]Entry, error) {
	all, err := entriesIn(ctx, local)
	if err != nil || shared == nil {
		return all, err
	}
	return slices.DeleteFunc(all, func(e Entry) bool {
		if e.Result != dedup.Double || err != nil {
			return false
		}
		var found dedup.Found
		found, err = shared.Get(ctx, dedup.Ref{Rule: e.Rule, Scope: e.Scope, Key: e.Key})
		return err == nil && found.Record.State == dedup.Open && found.Record.Ticket.ID == e.Ticket
	}), err
}

func entriesIn(ctx context.Context, local dedup.Store) ([]Entry, error) {
	var all []Entry
	err := local.List(ctx, doneName, func(_ dedup.Ref, rec dedup.Record) bool {
		var e Entry
		if json.Unmarshal(rec.Identity, &e) == nil {
			all = append(all, e)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Result, b.Result))
	})
	own := map[Entry]time.Time{}
	for _, e := range all {
		if e.Result == dedup.TakenOver || e.Result == dedup.SameTicket {
			own[e.about()] = e.At
		}
	}
	return slices.DeleteFunc(all, func(e Entry) bool {
		since, ok := own[e.about()]
		return e.Result == dedup.Double && ok && !since.Before(e.At)
	}), nil
}

// about is the ticket of a key.
func (e Entry) about() Entry {
	return Entry{Rule: e.Rule, Scope: e.Scope, Key: e.Key, Ticket: e.Ticket}
}

// keepEntry keeps the entry and tells of it, once: the same thing has the same
// name again. cause names what was reconciled; a double is
// one thing, whoever finds it.
func (s *Store) keepEntry(ctx context.Context, e Entry, cause string) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	result := e.Result
	if result == dedup.SameTicket { // what was taken over is found again so, if it was not dropped then
		result = dedup.TakenOver
	}
	if result == dedup.Double || result == dedup.MaybeDouble { // whoever finds it
		cause = ""
	}
	at := doneRef(e, cause, result)
	was, err := s.local.Get(ctx, at)
	if err != nil || was.Record.Version > 0 {
		return err
	}
	rec, nonce := dedup.Record{V: dedup.Format, State: dedup.Closed, Identity: text, KeepUntil: was.Now.Add(entryKept)}, rand.Text()
	_, err = s.local.Swap(ctx, at, 0, rec, nonce)
	if err != nil && !errors.Is(err, dedup.ErrConflict) { // whoever wrote it tells of it
		_, err = s.local.Swap(ctx, at, 0, rec, nonce)
	}
	switch {
	case errors.Is(err, dedup.ErrConflict): // another process tells of it
		return nil
	case err != nil:
		return err
	}
	s.o.Reconciled(e)
	return nil
}

// doneRef is the name of an entry.
func doneRef(e Entry, cause string, result dedup.Reconciled) dedup.Ref {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%s|%s|%s|%s|%s", e.Rule, e.Scope, e.Key, cause, result, e.Ticket, e.Token))
	return dedup.Ref{Rule: doneName, Key: dedup.Key(hex.EncodeToString(sum[:16]))}
}

// NoteMerge writes into the entry of a double, if there is one, that it was
// merged or needs no merging; other results change nothing.
func (s *Store) NoteMerge(ctx context.Context, ref dedup.Ref, ticket string, result dedup.MergeResult) error {
	if result != dedup.Merged && result != dedup.MergeNeedless {
		return nil
	}
	at := doneRef(Entry{Rule: ref.Rule, Scope: ref.Scope, Key: ref.Key, Ticket: ticket}, "", dedup.Double)
	return s.rewrite(ctx, at, func(was dedup.Found) *dedup.Record {
		var e Entry
		if !live(was.Record) || json.Unmarshal(was.Record.Identity, &e) != nil || e.Merge != "" {
			return nil
		}
		e.Merge = result
		text, err := json.Marshal(e)
		if err != nil {
			return nil
		}
		next := was.Record
		next.Identity = text
		return &next
	})
}

// prune drops the oldest entries beyond the bound.
func (s *Store) prune(ctx context.Context) error {
	entries, err := s.entries(ctx, doneName)
	if err != nil || len(entries) <= maxEntries {
		return err
	}
	slices.SortFunc(entries, func(a, b item) int { return a.rec.KeepUntil.Compare(b.rec.KeepUntil) })
	for _, e := range entries[:len(entries)-maxEntries] {
		if err := s.local.Delete(ctx, e.at); err != nil {
			return err
		}
	}
	return nil
}

// An item is one record of the embedded store.
type item struct {
	at  dedup.Ref
	rec dedup.Record
}

func (s *Store) entries(ctx context.Context, name string) ([]item, error) {
	var all []item
	err := s.local.List(ctx, name, func(at dedup.Ref, rec dedup.Record) bool {
		all = append(all, item{at, rec})
		return true
	})
	return all, err
}

// drop leaves a stub of the record, unless it has been written since.
func (s *Store) drop(ctx context.Context, e item) error {
	_, err := s.local.Swap(ctx, e.at, e.rec.Version, dedup.Record{
		V: dedup.Format, State: dedup.None, Episode: e.rec.Episode, KeepUntil: e.rec.KeepUntil,
	}, "")
	if errors.Is(err, dedup.ErrConflict) {
		return nil
	}
	return err
}
