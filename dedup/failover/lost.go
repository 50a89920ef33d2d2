package failover

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"oneticket/dedup"
)

// What a shared store has acknowledged it may lose: a replica that takes over
// has not always received the last writes of the master that died, and no call
// says so. Who has seen a record knows it by its version, which never goes back,
// and by its ticket, which does not change within an episode.

// A known is what of a settled shared record its loss is seen by.
type known struct {
	version int64
	episode int64
	ticket  string
	at      time.Time // our clock, when it was seen
}

// lostIn reports whether the record, which was read after the known one, shows
// that the store has lost that.
func (k known) lostIn(rec dedup.Record) bool {
	switch {
	case k.version == 0 || rec.V > dedup.Format:
		return false
	case rec.Version < k.version:
		return true
	case k.ticket == "" || rec.Episode > k.episode:
		return false
	case rec.State == dedup.Open:
		return rec.Ticket.ID != k.ticket
	default:
		return rec.State == dedup.Claimed || rec.State == dedup.Doubtful
	}
}

// losses are the keys of which the shared store seems to have lost something.
// Until that is known, what is mirrored of them stays as it is.
type losses struct {
	mu   sync.Mutex
	refs map[dedup.Ref]known
}

// mostLosses bounds them; what is beyond is a double that nobody reports.
const mostLosses = 1 << 14

func (l *losses) add(ref dedup.Ref, k known) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refs == nil {
		l.refs = map[dedup.Ref]known{}
	}
	if _, has := l.refs[ref]; !has && len(l.refs) < mostLosses {
		l.refs[ref] = k
	}
}

func (l *losses) has(ref dedup.Ref) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, has := l.refs[ref]
	return has
}

func (l *losses) some() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.refs) > 0
}

func (l *losses) remove(ref dedup.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.refs, ref)
}

func (l *losses) all() []dedup.Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	refs := make([]dedup.Ref, 0, len(l.refs))
	for ref := range l.refs {
		refs = append(refs, ref)
	}
	return refs
}

// How much is compared when the shared store is well again: the newest.
const (
	comparedOf = 10 * time.Minute
	mostOf     = 4096
)

// recent are the keys whose records were seen last, the newest first.
func (m *mirror) recent(now time.Time) []dedup.Ref {
	m.mu.Lock()
	defer m.mu.Unlock()
	var refs []dedup.Ref
	for ref, k := range m.last {
		if now.Sub(k.at) <= comparedOf {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b dedup.Ref) int { return m.last[b].at.Compare(m.last[a].at) })
	return refs[:min(len(refs), mostOf)]
}

// compare reads, after a call that has failed, what the shared store has
// acknowledged of late, and takes over again what it has lost.
func (s *Store) compare(ctx context.Context) (restored int, err error) {
	if s.doubted.Swap(false) {
		for _, ref := range s.mirror.recent(time.Now()) {
			_, err := s.getShared(ctx, ref)
			if err != nil {
				s.doubted.Store(true)
			}
			if err := errors.Join(onlyRefused(err), s.rest(ctx)); err != nil {
				return 0, err
			}
		}
	}
	for _, ref := range s.mirror.losses.all() {
		is, err := s.restore(ctx, ref)
		if err != nil {
			return restored, err
		}
		if is {
			restored++
		}
	}
	if restored > 0 {
		s.o.Log.Warn("the shared store has lost what it had acknowledged: what is known of it here is taken over again", "records", restored)
	}
	return restored, nil
}

// onlyRefused is an error that every other key would have too.
func onlyRefused(err error) error {
	if refused(err) {
		return err
	}
	return nil
}

// mayHaveLost reports whether there is something to compare.
func (s *Store) mayHaveLost() bool { return s.doubted.Load() || s.mirror.losses.some() }

// restore has the key decided on by what was known of it, and that reconciled as
// if it were of an outage, if the shared store has surely lost it.
func (s *Store) restore(ctx context.Context, ref dedup.Ref) (bool, error) {
	k := s.mirror.known(ref)
	found, err := s.getShared(ctx, ref)
	if err != nil {
		return false, err
	}
	if !k.lostIn(found.Record) { // an answer had overtaken another
		s.mirror.losses.remove(ref)
		return false, nil
	}
	restored, err := s.seedLost(ctx, ref, found.Record)
	if err == nil {
		s.mirror.lostAndFound(ref)
	}
	return restored, err
}

// seedLost makes what the mirror knows of the key the embedded store's own
// record. It is provisional, for the shared store does not have it; but where
// that has the same ticket there is nothing to tell.
func (s *Store) seedLost(ctx context.Context, ref dedup.Ref, shared dedup.Record) (bool, error) {
	if plain(ref) {
		return false, nil
	}
	defer s.touch()()
	own, err := s.local.Get(ctx, named(ownName, ref))
	if err != nil || live(own.Record) {
		return false, err
	}
	was, err := s.local.Get(ctx, named(mirrorName, ref))
	if err != nil {
		return false, err
	}
	rec, ok := seedOf(own, was)
	if !ok || !live(rec) {
		return false, nil
	}
	rec.Provisional = rec.Ticket.ID != shared.Ticket.ID
	if _, err = s.local.Swap(ctx, named(ownName, ref), own.Record.Version, rec, ""); errors.Is(err, dedup.ErrConflict) {
		return false, nil
	}
	if err == nil && rec.Provisional {
		s.provisional.Add(1)
	}
	return err == nil, err
}

// claimLost is for a claim that was won because the shared store has lost the
// record: it is taken back, and what was known of the key decides.
func (s *Store) claimLost(ctx context.Context, ref dedup.Ref, offer *dedup.Offer, won dedup.Found) (dedup.Found, error) {
	restored, err := s.restore(ctx, ref)
	if err != nil || !restored && !s.holds(ctx, ref) {
		s.flights.saw(ref, won.Record, won.Now)
		return won, nil
	}
	if err := s.keepUnsent(ctx, ref, offer.Holder); err != nil {
		return dedup.Found{}, err
	}
	return s.claimLocally(ctx, ref, offer, nil)
}
