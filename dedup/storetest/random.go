package storetest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"oneticket/dedup"
)

// SeedVariable names the environment variable that makes a random run the one
// that failed.
const SeedVariable = "STORETEST_SEED"

const (
	sessions     = 20
	sessionSteps = 120

	// A session is cut off when it has taken so much of real time that its
	// leases, which end half a grain beside every move of the clock, would
	// no longer end in the same step for both stores.
	sessionTime = grain / 4
	grain       = 10 * time.Second
)

// random makes the same calls to the store and to the reference store and
// compares every answer. The reference's clock is what the store's answers
// tell of its own.
func random(s *scene) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(SeedVariable); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			s.Fatalf("%s: %v", SeedVariable, err)
		}
		seed = given
	}
	for i := range uint64(sessions) {
		w := newWalk(s, rand.New(rand.NewPCG(seed, i)), fmt.Sprintf("walk-%d", i))
		if failure := w.run(); failure != "" {
			last := w.calls[max(0, len(w.calls)-30):]
			s.Fatalf("%s=%d, session %d: %s\nthe last calls:\n%s", SeedVariable, seed, i, failure, strings.Join(last, "\n"))
		}
	}
}

// A walk is one session of random calls on a few keys of its own.
type walk struct {
	*scene
	r     *rand.Rand
	model *Memory
	now   time.Time // of the model
	refs  []dedup.Ref
	last  func() string // the last call that may be repeated
	calls []string
	ids   []string
}

func newWalk(s *scene, r *rand.Rand, name string) *walk {
	w := &walk{scene: s, r: r}
	w.model = NewMemory(func() time.Time { return w.now })
	for _, key := range []string{"a", "b", "c"} {
		w.refs = append(w.refs, refOf(name+key))
		w.ids = append(w.ids, name+key)
	}
	return w
}

func (w *walk) run() (failure string) {
	for start := time.Now(); len(w.calls) < sessionSteps && time.Since(start) < sessionTime; {
		if failure := w.step(); failure != "" {
			return failure
		}
	}
	return ""
}

func (w *walk) step() string {
	ref := w.refs[w.r.IntN(len(w.refs))]
	switch n := w.r.IntN(100); {
	case n < 30:
		return w.claims(ref)
	case n < 55:
		return w.swaps(ref)
	case n < 62 && w.last != nil:
		w.called("again:")
		return w.last()
	case n < 70:
		return w.renews(ref)
	case n < 74:
		return w.marks(ref)
	case n < 78:
		return w.deletes(ref)
	case n < 90:
		return w.tickets()
	default:
		d := time.Duration(1+w.r.IntN(8)) * grain
		w.called("forward %v", d)
		w.data.Forward(d)
		return ""
	}
}

func (w *walk) called(format string, args ...any) {
	w.calls = append(w.calls, fmt.Sprintf(format, args...))
}

func (w *walk) store() dedup.Store { return []dedup.Store{w.one, w.two}[w.r.IntN(2)] }

func (w *walk) holder() string { return []string{"h1", "h2", "h3"}[w.r.IntN(3)] }

func (w *walk) fingerprint() dedup.Fingerprint {
	return []dedup.Fingerprint{major, major, minor, dedup.Unknown}[w.r.IntN(4)]
}

// odd is a length of time that ends half a grain beside every move of the
// clock.
func (w *walk) odd() time.Duration { return time.Duration(w.r.IntN(12))*grain + grain/2 }

func (w *walk) claims(ref dedup.Ref) string {
	o := offerOf(w.holder(), ref)
	o.Fingerprint = w.fingerprint()
	o.Token.Style = []dedup.TokenStyle{dedup.PlainToken, dedup.EpisodeToken, dedup.TimeToken}[w.r.IntN(3)]
	o.Lease, o.TTL = w.odd(), 16*w.odd()
	o.MaxAge = []time.Duration{0, 20 * w.odd()}[w.r.IntN(2)]
	o.Keep, o.KeepOpen = 1000*time.Hour+w.odd(), 1000*time.Hour+w.odd()
	o.Provisional = w.r.IntN(2) == 0
	w.called("claim %s by %s, %+v, lease %v, TTL %v, greatest age %v", ref.Key, o.Holder, o.Fingerprint, o.Lease, o.TTL, o.MaxAge)
	if w.r.IntN(8) == 0 {
		o = nil
		w.called("(without the offer)")
	}
	w.last = func() string { return w.claim(ref, o) }
	return w.last()
}

func (w *walk) claim(ref dedup.Ref, o *dedup.Offer) string {
	got, err := w.store().Claim(w.ctx, ref, o)
	if err != nil {
		return err.Error()
	}
	w.now = got.Now
	want, _ := w.model.Claim(w.ctx, ref, o)
	return difference(got, want)
}

// look reads the record of both and compares.
func (w *walk) look(ref dedup.Ref) (dedup.Found, string) {
	got, err := w.store().Get(w.ctx, ref)
	if err != nil {
		return got, err.Error()
	}
	w.now = got.Now
	want, _ := w.model.Get(w.ctx, ref)
	return got, difference(got, want)
}

func (w *walk) swaps(ref dedup.Ref) string {
	was, failure := w.look(ref)
	if failure != "" {
		return failure
	}
	seen, nonce := was.Record.Version, strconv.Itoa(w.r.IntN(1_000_000))
	if w.r.IntN(6) == 0 {
		seen = max(0, seen+int64(w.r.IntN(3)-1))
	}
	next := w.next(was)
	w.called("swap %s over %d, nonce %s: %s %+v, free at %v", ref.Key, seen, nonce, next.State, next.Fingerprint, next.FreeAt)
	w.last = func() string { return w.swapped(ref, seen, next, nonce) }
	return w.last()
}

func (w *walk) swapped(ref dedup.Ref, seen int64, next dedup.Record, nonce string) string {
	got, err := w.store().Swap(w.ctx, ref, seen, next, nonce)
	want, wantErr := w.model.Swap(w.ctx, ref, seen, next, nonce)
	if err != wantErr {
		return fmt.Sprintf("swap: got %v, want %v", err, wantErr)
	}
	return difference(got, want)
}

// next is some record that may follow on what was found.
func (w *walk) next(was dedup.Found) dedup.Record {
	rec, now := was.Record, was.Now
	if rec.Prior != nil && w.r.IntN(4) == 0 {
		rec = *rec.Prior
	} else if w.r.IntN(6) == 0 {
		rec = fullRecord(now)
	}
	rec.State = []dedup.State{dedup.None, dedup.Claimed, dedup.Doubtful, dedup.Open, dedup.Open, dedup.Closed}[w.r.IntN(6)]
	rec.Fingerprint, rec.Holder = w.fingerprint(), w.holder()
	rec.OpenedAt, rec.ExpiresAt = now, now.Add(w.odd())
	rec.LeaseUntil, rec.KeepUntil = now.Add(w.odd()), now.Add(2000*time.Hour)
	rec.FreeAt = []time.Time{{}, rec.ExpiresAt, rec.ExpiresAt, rec.KeepUntil}[w.r.IntN(4)]
	rec.Update = nil
	if w.r.IntN(3) == 0 {
		rec.Update = &dedup.UpdateClaim{Holder: w.holder(), LeaseUntil: now.Add(w.odd()), Fingerprint: minor}
	}
	return rec
}

func (w *walk) renews(ref dedup.Ref) string {
	holder, lease := w.holder(), w.odd()
	w.called("renew %s by %s for %v", ref.Key, holder, lease)
	got, err := w.store().Renew(w.ctx, ref, holder, lease)
	if err != nil {
		return err.Error()
	}
	after, err := w.store().Get(w.ctx, ref)
	if err != nil {
		return err.Error()
	}
	w.now = after.Now
	if got {
		w.now = renewedAt(after.Record, holder, lease)
	}
	if want, _ := w.model.Renew(w.ctx, ref, holder, lease); got != want {
		return fmt.Sprintf("renewed %v, want %v", got, want)
	}
	_, failure := w.look(ref)
	return failure
}

// renewedAt is the clock of the renewal that the record shows.
func renewedAt(rec dedup.Record, holder string, lease time.Duration) time.Time {
	if rec.State == dedup.Claimed && rec.Holder == holder && (rec.Update == nil || rec.Update.Holder != holder || rec.LeaseUntil.After(rec.Update.LeaseUntil)) {
		return rec.LeaseUntil.Add(-lease)
	}
	return rec.Update.LeaseUntil.Add(-lease)
}

func (w *walk) marks(ref dedup.Ref) string {
	holder := w.holder()
	w.called("mark %s by %s", ref.Key, holder)
	if err := w.store().MarkSent(w.ctx, ref, holder); err != nil {
		return err.Error()
	}
	_ = w.model.MarkSent(w.ctx, ref, holder)
	_, failure := w.look(ref)
	return failure
}

func (w *walk) deletes(ref dedup.Ref) string {
	w.called("delete %s", ref.Key)
	if err := w.store().Delete(w.ctx, ref); err != nil {
		return err.Error()
	}
	_ = w.model.Delete(w.ctx, ref)
	_, failure := w.look(ref)
	return failure
}

func (w *walk) tickets() string {
	ref, id, keep := w.refs[w.r.IntN(len(w.refs))], w.ids[w.r.IntN(len(w.ids))], w.odd()
	if _, failure := w.look(ref); failure != "" { // sets the clock
		return failure
	}
	if w.r.IntN(2) == 0 {
		w.called("ticket %s of %s for %v", id, ref.Key, keep)
		got, err := w.store().Ticket(w.ctx, snow, id, ref, keep)
		if want, _ := w.model.Ticket(w.ctx, snow, id, ref, keep); got != want || err != nil {
			return fmt.Sprintf("closed %v, %v; want %v", got, err, want)
		}
		return ""
	}
	w.called("close %s for %v", id, keep)
	got, held, err := w.store().KeepClose(w.ctx, snow, id, keep)
	if want, wantHeld, _ := w.model.KeepClose(w.ctx, snow, id, keep); got != want || held != wantHeld || err != nil {
		return fmt.Sprintf("held by %+v %v, %v; want %+v %v", got, held, err, want, wantHeld)
	}
	return ""
}
