package deadletter

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Auto replays letters without being asked, while wanted says so, until ctx
// ends: those whose backend ready says is one that we have credentials for,
// that nobody has put again for a while, and that were not sent MaxTries times.
// It also takes out what became a ticket on another replica, wanted or not.
// every is how often it looks.
func (r *Replayer) Auto(ctx context.Context, every, quiet time.Duration, wanted func() bool, ready func(Letter) bool) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	tidied := int64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		next, err := r.tidy(ctx, tidied, tidyMost)
		if tidied = next; err != nil && ctx.Err() == nil {
			r.log().Warn("dead letters", "error", err)
		}
		if !wanted() {
			continue
		}
		for _, id := range r.due(ctx, quiet, ready) {
			if _, err := r.Replay(ctx, id); forgiving(err) != nil && ctx.Err() == nil {
				r.log().Warn("dead letter", "id", id, "error", err)
				break // the store or the disk: the next round tries again
			}
		}
	}
}

// due are the ids of the letters that Auto is to send.
func (r *Replayer) due(ctx context.Context, quiet time.Duration, ready func(Letter) bool) []string {
	var ids []string
	before := r.Box.o.Now().Add(-quiet)
	err := r.Box.List(ctx, func(l Letter) bool {
		if l.Replays < MaxTries && l.At.Before(before) && ready(l) {
			ids = append(ids, l.ID)
		}
		return true
	})
	if err != nil && ctx.Err() == nil {
		r.log().Warn("dead letters", "error", err)
	}
	return ids
}

// Tidy takes out the letters whose episode is over or has a ticket: it may
// have come by another replica, which knows nothing of our letters.
func (r *Replayer) Tidy(ctx context.Context) error {
	for after := int64(0); ; {
		next, err := r.tidy(ctx, after, tidyMost)
		if after = next; err != nil || after == 0 {
			return err
		}
	}
}

// tidyMost is how many letters are looked at in one go: each costs a call of
// the store, and there may be a hundred thousand.
const tidyMost = 1000

// tidy looks at so many letters behind the one with the number. It returns
// where to go on; 0 is from the beginning.
func (r *Replayer) tidy(ctx context.Context, after int64, most int) (next int64, err error) {
	var letters []Letter
	err = r.Box.listAfter(ctx, after, func(l Letter) bool { letters = append(letters, l); return len(letters) < most })
	if err != nil {
		return after, err
	}
	for _, l := range letters {
		if err := r.tidyOne(ctx, l); err != nil {
			return after, err
		}
	}
	if len(letters) < most {
		return 0, nil
	}
	next, _ = numberOf(letters[len(letters)-1].ID)
	return next, nil
}

func (r *Replayer) tidyOne(ctx context.Context, l Letter) error {
	standing, _, err := r.standing(ctx, l)
	if err != nil || standing != Over {
		return err
	}
	if _, err := r.Box.Remove(ctx, l.Ref, l.Episode); err != nil {
		return err
	}
	r.log().Info("dead letter dropped: its episode is over or has a ticket", "id", l.ID, "rule", l.Ref.Rule, "key", l.Ref.Key)
	return nil
}

// ReplayAll replays the letters that are there now one after the other, and
// calls yield with what became of each until it returns false.
func (r *Replayer) ReplayAll(ctx context.Context, yield func(Result) bool) error {
	ids, err := r.Box.ids(ctx)
	for _, id := range ids {
		result, err := r.Replay(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue // it went with another letter of its key and episode
		}
		if err != nil {
			return err
		}
		if !yield(result) {
			return nil
		}
	}
	return err
}

func (r *Replayer) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}
