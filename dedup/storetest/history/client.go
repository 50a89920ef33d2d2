package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"oneticket/dedup"
)

// A client makes one call after another.
type client struct {
	*recorder
	name  string
	store dedup.Store
	r     *rand.Rand
	known map[int]state // what it last saw of each key
	made  int
}

// work makes calls until the recorder has enough.
func (c *client) work(ctx context.Context) error {
	for c.more() {
		asked := c.choose()
		a, err := c.do(ctx, asked)
		if err != nil {
			return err
		}
		if !a.unknown {
			continue
		}
		if err := c.untilReached(ctx, asked.key); err != nil {
			return err
		}
		// As the engine does: the same call once more, which knows itself.
		if c.r.IntN(2) == 0 {
			if _, err := c.do(ctx, asked); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *client) choose() call {
	key := c.r.IntN(c.o.Keys)
	c.made++
	own := fmt.Sprintf("%s.%d", c.name, c.made)
	last := c.known[key]
	switch n := c.r.IntN(100); {
	case n < 35:
		return call{op: claim, key: key, holder: own}
	case n < 80:
		return call{op: swap, key: key, seen: last.version, nonce: own, next: c.next(last, own)}
	case n < 85:
		return call{op: renew, key: key, holder: last.holder}
	case n < 90:
		return call{op: remove, key: key}
	default:
		return call{op: get, key: key}
	}
}

// next is what may follow on what was seen.
func (c *client) next(last state, tag string) state {
	next := state{episode: last.episode, tag: tag}
	switch c.r.IntN(4) {
	case 0:
		next.is, next.holder = dedup.Claimed, tag
	case 1:
		next.is = dedup.Open
	default:
		next.is, next.free = dedup.Closed, true
	}
	return next
}

// do makes the call and records it. Its error is what no store may do.
func (c *client) do(ctx context.Context, asked call) (answer, error) {
	began := c.now()
	a, err := c.ask(ctx, asked)
	c.note(c, asked, a, began, c.now())
	if err != nil {
		return a, fmt.Errorf("%v: %w", asked, err)
	}
	if !a.unknown && (asked.op == claim || asked.op == get) {
		c.known[asked.key] = a.record
	}
	return a, nil
}

func (c *client) ask(ctx context.Context, asked call) (a answer, torn error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	ref := c.ref(asked.key)
	var err error
	switch asked.op {
	case claim:
		var found dedup.Found
		found, err = c.store.Claim(ctx, ref, offer(asked.holder))
		a.yes = found.Won
		a.record, torn = seen(found)
	case get:
		var found dedup.Found
		found, err = c.store.Get(ctx, ref)
		a.yes = true
		a.record, torn = seen(found)
	case swap:
		_, err = c.store.Swap(ctx, ref, asked.seen, asked.next.record(time.Now()), asked.nonce)
		a.yes = err == nil
	case renew:
		a.yes, err = c.store.Renew(ctx, ref, asked.holder, never)
	case remove:
		err = c.store.Delete(ctx, ref)
		a.yes = true
	}
	if err != nil && !errors.Is(err, dedup.ErrConflict) {
		return answer{unknown: true, why: err.Error()}, nil
	}
	return a, torn
}

// untilReached waits until the store answers again, so that an outage leaves
// one open call of each client and not thousands. What is read is not
// recorded.
func (c *client) untilReached(ctx context.Context, key int) error {
	for deadline := time.Now().Add(patience); ; {
		found, err := c.store.Get(ctx, c.ref(key))
		if err == nil {
			c.known[key], err = seen(found)
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the store does not come back: %w", err)
		}
		time.Sleep(time.Millisecond)
	}
}
