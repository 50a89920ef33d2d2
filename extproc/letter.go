package extproc

import (
	"context"
	"errors"
	"net/http"
	"time"

	"oneticket/dedup"
)

// Letters keep the creates that have not become a ticket. Put returns when a
// letter would survive the death of the process. They are called while a client
// waits.
type Letters interface {
	Put(context.Context, Letter) error
	// NeverSent says of one create of the episode that ended as unknown, and was
	// put so, that nothing of it had been sent.
	NeverSent(ctx context.Context, ref dedup.Ref, episode int64) error
	// Remove takes away the letters of an episode that has its ticket.
	Remove(ctx context.Context, ref dedup.Ref, episode int64) error
	// Replayable reports whether the letter may be sent again, as a request for
	// that record.
	Replayable(ctx context.Context, id string, ref dedup.Ref, episode int64) bool
}

// A Letter is such a create. Its header and body are as the client sent them,
// credentials and all: whoever keeps it takes these out.
type Letter struct {
	Ref     dedup.Ref
	Backend string
	Episode int64
	Token   string
	Outcome dedup.OutcomeKind // never_sent, refused (for now) or unknown
	Status  int               // of the last answer; 0 = there was none
	Bare    bool              // it carried no token where a look-up would find it

	Method string
	Path   string // as it was sent, with its query
	Header []dedup.HeaderField
	Body   []byte
}

// letterWithin is how long a failing answer may be held back for its letter.
const letterWithin = 250 * time.Millisecond

// mostPuts bounds the letters that are being written at one time: a disk that
// does not answer must not hold every failing create in memory.
const mostPuts = 64

var (
	errLetterSlow    = errors.New("the disk does not take it in time: it may yet be kept")
	errLetterCrowded = errors.New("the disk does not answer: too many wait for it")
)

// A sending is the create that this exchange let go.
type sending struct {
	ref     dedup.Ref
	episode int64
	token   string
}

// unmade reports whether an outcome leaves the create without a ticket that it
// may still get: a refusal is final, but one for now.
func unmade(kind dedup.OutcomeKind, status int) bool {
	switch kind {
	case dedup.OutcomeCreated:
		return false
	case dedup.OutcomeRefused:
		return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
	}
	return true
}

// keepLetter keeps the create before its client is told that it failed.
func (x *exchange) keepLetter(ctx context.Context, kind dedup.OutcomeKind) {
	if d := x.desk; d != nil && x.server.o.Letters != nil {
		x.server.putLetter(ctx, d.letter(x.sending, kind, x.answered.status))
	}
}

func (d *desk) letter(s sending, kind dedup.OutcomeKind, status int) Letter {
	if kind != dedup.OutcomeNeverSent && kind != dedup.OutcomeRefused {
		kind = dedup.OutcomeUnknown
	}
	return Letter{
		Ref: s.ref, Backend: d.rule.Backend, Episode: s.episode, Token: s.token, Outcome: kind, Status: status,
		Method: d.head.method, Path: d.head.path, Header: d.head.fields, Body: d.raw, Bare: !d.carries(s.token),
	}
}

func (s *Server) putLetter(ctx context.Context, l Letter) {
	err := s.put(context.WithoutCancel(ctx), l)
	s.count.Lettered(l.Ref.Rule, err)
	if err != nil {
		s.o.Log.Error("a create without a ticket could not be kept as a dead letter", "rule", l.Ref.Rule, "key", l.Ref.Key, "outcome", l.Outcome, "error", err)
	}
}

// put waits for the letter no longer than letterWithin, whatever the disk does.
func (s *Server) put(ctx context.Context, l Letter) error {
	select {
	case s.puts <- struct{}{}:
	default:
		return errLetterCrowded
	}
	ended := make(chan error, 1)
	go func() {
		defer func() { <-s.puts }()
		ended <- s.o.Letters.Put(ctx, l)
	}()
	late := time.NewTimer(letterWithin)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return errLetterSlow
	}
}

// waitForPuts waits for the letters that are being written, until ctx is over,
// and lets no new one begin.
func (s *Server) waitForPuts(ctx context.Context) {
	for range mostPuts {
		select {
		case s.puts <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// undoubt says of the letter of a create in doubt that it was never sent. It may
// be sent again without a doubt from then on.
func (s *Server) undoubt(of sending) {
	if s.o.Letters == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Settle)
	defer cancel()
	if err := s.o.Letters.NeverSent(ctx, of.ref, of.episode); err != nil {
		s.o.Log.Warn("a dead letter stays in doubt although its create was never sent", "rule", of.ref.Rule, "key", of.ref.Key, "error", err)
	}
}

// unletter takes the letters of an episode away, off the path.
func (s *Server) unletter(ref dedup.Ref, episode int64) {
	if s.o.Letters == nil {
		return
	}
	s.follows.aside(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.o.Settle)
		defer cancel()
		if err := s.o.Letters.Remove(ctx, ref, episode); err != nil {
			s.o.Log.Warn("the dead letters of a create that has its ticket could not be removed", "rule", ref.Rule, "key", ref.Key, "error", err)
		}
	})
}
