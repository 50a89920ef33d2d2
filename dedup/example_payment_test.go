package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"oneticket/dedup"
)

// A till charges each payment once: the client's key names it, and the receipt
// is given again for a day.
type till struct {
	once *dedup.Once
	bank func() (receipt string, err error)
}

func newTill(store dedup.Store, bank func() (string, error)) *till {
	return &till{bank: bank, once: dedup.NewOnce(dedup.OnceOptions{Store: store, Name: "payments", Keep: 24 * time.Hour})}
}

// A decline is the bank's no: no money has moved.
var errDeclined = errors.New("402: card declined")

func (t *till) pay(ctx context.Context, idempotencyKey string) (receipt string, replayed bool, err error) {
	key, ok := dedup.ClientKey(idempotencyKey, "payments")
	if !ok {
		return "", false, errors.New("400: a payment needs an Idempotency-Key")
	}
	result, replayed, err := t.once.Do(ctx, key, func(context.Context) ([]byte, error) {
		receipt, err := t.bank()
		if err != nil && !errors.Is(err, errDeclined) {
			err = dedup.Unsure(err) // nobody knows whether money has moved: nobody moves it again
		}
		return []byte(receipt), err
	})
	return string(result), replayed, err
}

// paymentEndpoint is the story; the tests tell it over every store.
func paymentEndpoint(out io.Writer, store dedup.Store) {
	ctx := context.Background()
	var charges atomic.Int64
	answer := error(nil)
	bank := func() (string, error) {
		if answer != nil {
			return "", answer
		}
		time.Sleep(50 * time.Millisecond) // for so long the others wait
		return fmt.Sprintf("receipt %d", charges.Add(1)), nil
	}
	t := newTill(store, bank)
	defer t.once.Close()

	_, _, err := t.pay(ctx, "")
	fmt.Fprintln(out, err)

	var replays atomic.Int64
	var wg sync.WaitGroup
	for range 8 { // an impatient client
		wg.Go(func() {
			if receipt, replayed, err := t.pay(ctx, "7c9e6679"); err != nil || receipt != "receipt 1" {
				fmt.Fprintln(out, receipt, err)
			} else if replayed {
				replays.Add(1)
			}
		})
	}
	wg.Wait()
	fmt.Fprintf(out, "8 calls, %d charge, %d replays\n", charges.Load(), replays.Load())

	answer = errDeclined
	_, _, err = t.pay(ctx, "order-8")
	fmt.Fprintln(out, err)
	answer = nil
	receipt, replayed, err := t.pay(ctx, `"order-8"`) // another card, the same order; quoted is the same key
	fmt.Fprintln(out, receipt, replayed, err)

	answer = errors.New("504: the bank does not answer")
	_, _, err = t.pay(ctx, "order-9")
	fmt.Fprintln(out, err)
	answer = nil
	_, _, err = t.pay(ctx, "order-9")
	fmt.Fprintln(out, errors.Is(err, dedup.ErrInDoubt), err)

	// Somebody has looked into the bank's books: no money has moved.
	key, _ := dedup.ClientKey("order-9", "payments")
	if err := store.Delete(ctx, dedup.Ref{Rule: "payments", Key: key}); err != nil {
		fmt.Fprintln(out, err)
	}
	receipt, replayed, err = t.pay(ctx, "order-9")
	fmt.Fprintln(out, receipt, replayed, err)
}

// A payment endpoint: once per key of the client, whose concurrent calls wait
// and get the stored receipt. A refusal may be tried again; where nobody knows
// whether money has moved, it is moved again only when somebody has looked.
func Example_paymentEndpoint() {
	store := embedded()
	defer store.Close()
	paymentEndpoint(os.Stdout, store)
	// Output:
	// 400: a payment needs an Idempotency-Key
	// 8 calls, 1 charge, 7 replays
	// 402: card declined
	// receipt 2 false <nil>
	// 504: the bank does not answer
	// true an earlier run of the same key ended without a known outcome
	// receipt 3 false <nil>
}
