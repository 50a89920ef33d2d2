package deadletter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"oneticket/dedup"
)

// The tries of one replay: four, 0.5 s doubling to 8 s between them.
const (
	MaxTries  = 4
	firstWait = 500 * time.Millisecond
	mostWait  = 8 * time.Second

	// mostRetryAfter is how long a replay waits because it was asked to.
	mostRetryAfter = 30 * time.Second
)

// Records reads the records of the keys. A dedup.Store is one.
type Records interface {
	Get(ctx context.Context, ref dedup.Ref) (dedup.Found, error)
}

// A Sender sends a letter through the filter. The error says that there was no
// answer; one that wraps ErrNotSendable that there never will be.
type Sender interface {
	Send(ctx context.Context, l Letter) (Answer, error)
}

// ErrNotSendable: the configuration lacks what the letter needs to be sent.
var ErrNotSendable = errors.New("this letter cannot be sent")

// An Answer is what came back of a letter that was sent.
type Answer struct {
	Status     int
	Guarded    bool // the filter has handled it: the answer has its decision
	RetryAfter time.Duration
}

// A Result is what a replay made of a letter.
type Result struct {
	ID      string        `json:"id"`
	Became  Became        `json:"became"`
	Ticket  string        `json:"ticket,omitempty"`
	Detail  string        `json:"detail,omitempty"`
	Tries   int           `json:"tries"`
	Elapsed time.Duration `json:"-"`
}

// Became says what a letter is after its replay.
type Became string

const (
	Ticket  Became = "ticket"  // it is one now, and the letter is gone
	Dropped Became = "dropped" // its episode is over or has a ticket already; the letter is gone
	Stays   Became = "stays"
)

// A Replayer sends letters again, through the same claim as any request and
// only in their own episode. What became of a letter it reads from the record
// and never from an answer alone. It is safe for concurrent use, but two
// replays of one letter at once only make one of them wait for the other.
type Replayer struct {
	Box     *Box
	Records Records
	Sender  Sender
	Pace    func(ctx context.Context, backend string) error // waits for the next turn of the backend; nil: as fast as it goes
	Log     *slog.Logger                                    // nil: none
}

// Replay sends the letter, at most MaxTries times. An error means that nothing
// is known of it, and it stays.
func (r *Replayer) Replay(ctx context.Context, id string) (Result, error) {
	began := time.Now()
	l, err := r.Box.Get(ctx, id)
	if err != nil {
		return Result{}, err
	}
	result, err := r.replay(ctx, l)
	result.ID, result.Elapsed = l.ID, time.Since(began)
	if err != nil {
		return result, err
	}
	r.log().Info("dead letter replayed", "id", l.ID, "rule", l.Ref.Rule, "key", l.Ref.Key, "became", result.Became, "ticket", result.Ticket, "detail", result.Detail)
	return result, nil
}

func (r *Replayer) replay(ctx context.Context, l Letter) (Result, error) {
	result := Result{Became: Stays}
	var asked time.Duration
	for {
		done, err := r.look(ctx, l, &result)
		if done || err != nil || result.Tries == MaxTries {
			return result, err
		}
		if result.Tries > 0 {
			if asked > mostRetryAfter {
				result.Detail += fmt.Sprintf(", and asked to wait %s", asked)
				return result, nil
			}
			if err := sleep(ctx, max(waitAfter(result.Tries), asked)); err != nil {
				return result, err
			}
		}
		if asked, done, err = r.try(ctx, l, &result); done || err != nil {
			return result, err
		}
	}
}

// waitAfter is how long to wait after so many tries.
func waitAfter(tries int) time.Duration { return min(firstWait<<(tries-1), mostWait) }

// look asks the record whether there is anything left to do.
func (r *Replayer) look(ctx context.Context, l Letter, result *Result) (done bool, err error) {
	standing, rec, err := r.standing(ctx, l)
	if err != nil {
		return false, err
	}
	switch standing {
	case Over:
		result.Became, result.Detail = Dropped, "its episode is over or has a ticket already"
		if rec.Episode == l.Episode && rec.State == dedup.Open {
			result.Ticket = rec.Ticket.ID
			if result.Tries > 0 {
				result.Became, result.Detail = Ticket, ""
			}
		}
		_, err = r.Box.Remove(ctx, l.Ref, l.Episode)
		return true, err
	case Unclear:
		result.Detail = "the record of its key does not say whether it became a ticket: look for one, then rm it"
		return true, r.note(ctx, l, result.Detail)
	default:
		return false, nil
	}
}

func (r *Replayer) standing(ctx context.Context, l Letter) (Standing, dedup.Record, error) {
	doubt, err := r.Box.Doubtful(ctx, l.Ref, l.Episode)
	if err != nil {
		return "", dedup.Record{}, err
	}
	found, err := r.Records.Get(ctx, l.Ref)
	if err != nil {
		return "", dedup.Record{}, fmt.Errorf("replay %s: %w", l.ID, err)
	}
	return StandingOf(found, l.Episode, doubt || l.Doubt), found.Record, nil
}

// try sends the letter once. asked is how long the backend wants us to wait;
// final says that another try makes no sense.
func (r *Replayer) try(ctx context.Context, l Letter, result *Result) (asked time.Duration, final bool, err error) {
	if r.Pace != nil {
		if err := r.Pace(ctx, l.Backend); err != nil {
			result.Detail = err.Error()
			return 0, true, cmp.Or(ctx.Err(), r.note(ctx, l, result.Detail))
		}
	}
	answer, err := r.Sender.Send(ctx, l)
	if ctx.Err() != nil {
		return 0, true, ctx.Err()
	}
	switch {
	case errors.Is(err, ErrNotSendable):
		result.Detail = err.Error()
		return 0, true, r.note(ctx, l, result.Detail)
	case err != nil:
		result.Detail = err.Error()
	case !answer.Guarded:
		result.Detail = fmt.Sprintf("answered %d, and not through the filter: a second ticket is possible", answer.Status)
		final = true
		r.log().Error("a dead letter was not replayed through the filter", "id", l.ID, "rule", l.Ref.Rule, "key", l.Ref.Key, "status", answer.Status)
	default:
		result.Detail = fmt.Sprintf("answered %d", answer.Status)
	}
	result.Tries++
	return answer.RetryAfter, final, forgiving(r.Box.Replayed(ctx, l.ID, result.Detail))
}

func (r *Replayer) note(ctx context.Context, l Letter, why string) error {
	return forgiving(r.Box.Noted(ctx, l.ID, why))
}

// forgiving: a letter that is gone became a ticket meanwhile, and the record
// says so.
func forgiving(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
