package dedup

import (
	"context"
	"errors"
)

// Correct writes what was learned of the create after it was settled as
// unknown: OutcomeNeverSent removes its own attempt from the record, whoever
// holds that by now, and nothing else. Before a Settle it is the Settle.
func (h *Hold) Correct(ctx context.Context, kind OutcomeKind) error {
	o := Outcome{Kind: kind}
	if !h.done.Load() {
		_, err := h.Settle(ctx, o)
		return err
	}
	ref := h.claim.Fault.Ref
	for range maxRounds {
		found, err := h.engine.store.Get(ctx, ref)
		switch {
		case err != nil:
			return err
		case found.Provisional != h.apart:
			h.keep(ctx, Settlement{}, o)
			return nil
		}
		next := h.corrected(found, o)
		if next == nil {
			return nil
		}
		_, err = h.engine.swap(ctx, ref, found.Record.Version, *next)
		if err == nil {
			h.engine.room.refused(ref, "", nil)
			return nil
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return ErrConflict
}

// corrected is what the outcome makes of the record that was found; nil when
// that is not ours to change. Unlike a settle it leaves the trail alone: the
// decision is there already.
func (h *Hold) corrected(found Found, o Outcome) *Record {
	rec, p := found.Record, h.claim.Policy
	if rec.V > Format || p.Observe && !rec.Observed {
		return nil
	}
	st := Settle(rec, h.send, o, p, found.Now)
	if st.Next == nil || !p.Observe {
		return st.Next
	}
	next := asObserved(*st.Next, rec)
	return &next
}
