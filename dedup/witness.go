package dedup

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
)

// The witness of a too broad identity: one fault has one title, or a few. Many
// under one key are many faults, of which all but the first are swallowed.

const (
	maxWitness = 8 // hashes that a record keeps
	manyTitles = 5 // the title with which a key becomes suspect
)

// WitnessOf is the hash of a normalised title, see NormalTitle. It has no key:
// every replica finds the same, and a record shows more of its fault anyway.
func WitnessOf(title string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(title)) // never fails
	return h.Sum32()
}

// Witnessed is rec with the title, which was seen under its key, and reports
// whether that makes the key suspect: it does once in an episode. It is nil
// where there is nothing to write: the record has no ticket, knows the title, or
// knows as many as it keeps.
func Witnessed(rec Record, title string) (next *Record, suspect bool) {
	hash := WitnessOf(title)
	if title == "" || rec.V > Format || rec.State != Open || len(rec.Witness) >= maxWitness || slices.Contains(rec.Witness, hash) {
		return nil, false
	}
	out := rec.clone()
	out.Witness = append(slices.Clone(rec.Witness), hash)
	return &out, len(out.Witness) == manyTitles
}

// strange reports whether the claim's title is none of the first few of the
// open record. A clear is never strange: it says another thing of the same fault.
func (c *Claim) strange(rec Record) bool {
	title := c.Fault.Witness
	if title == "" || c.cleared() {
		return false
	}
	first := rec.Witness[:min(len(rec.Witness), manyTitles-1)]
	return len(first) == manyTitles-1 && !slices.Contains(first, WitnessOf(title))
}

// witnessed is the record that a create or an update of the claim has made,
// with its title.
func (c *Claim) witnessed(rec Record) Record {
	if c.cleared() {
		return rec
	}
	if next, _ := Witnessed(rec, c.Fault.Witness); next != nil {
		return *next
	}
	return rec
}

// witnessRounds bounds how often a title is tried to be written. One that is
// not will be seen again.
const witnessRounds = 4

// witness writes a title that the record of the verdict does not know, beside
// the request.
func (e *Engine) witness(c Claim, v Verdict) {
	if c.cleared() || v.Record.Observed != c.Policy.Observe {
		return
	}
	if next, _ := Witnessed(v.Record, c.Fault.Witness); next == nil {
		return
	}
	ref, title := c.Fault.Ref, c.Fault.Witness
	e.aside(func() { e.writeTitle(ref, v.Record, title) })
}

func (e *Engine) writeTitle(ref Ref, seen Record, title string) {
	ctx, cancel := context.WithTimeout(context.Background(), besideTimeout)
	defer cancel()
	rec := seen
	for range witnessRounds {
		next, suspect := Witnessed(rec, title)
		if next == nil || rec.Episode != seen.Episode {
			return
		}
		_, err := e.swap(ctx, ref, rec.Version, *next)
		if err == nil && suspect {
			e.report(Report{Ref: ref, Suspect: true})
		}
		if !errors.Is(err, ErrConflict) {
			return
		}
		found, err := e.store.Get(ctx, ref)
		if err != nil {
			return
		}
		rec = found.Record
	}
}
