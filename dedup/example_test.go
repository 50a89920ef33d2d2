package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// A job worker whose queue delivers a job more than once.
func ExampleOnce_Do() {
	once := dedup.NewOnce(dedup.OnceOptions{Store: storetest.NewMemory(time.Now), Name: "jobs"})
	defer once.Close()

	work := func(context.Context) ([]byte, error) {
		fmt.Println("sending the report")
		return []byte("sent"), nil
	}
	for range 3 {
		result, replayed, err := once.Do(context.Background(), "report:2026-01-05", work)
		fmt.Printf("%s replayed=%t err=%v\n", result, replayed, err)
	}
	// Output:
	// sending the report
	// sent replayed=false err=<nil>
	// sent replayed=true err=<nil>
	// sent replayed=true err=<nil>
}

// A payment endpoint: a refusal may be tried again, but where nobody knows
// whether money has moved, nobody moves it twice.
func ExampleUnsure() {
	once := dedup.NewOnce(dedup.OnceOptions{Store: storetest.NewMemory(time.Now), Name: "payments"})
	defer once.Close()

	charge := func(context.Context) ([]byte, error) {
		return nil, dedup.Unsure(errors.New("the bank did not answer"))
	}
	_, _, err := once.Do(context.Background(), "invoice-7", charge)
	fmt.Println(err)
	_, _, err = once.Do(context.Background(), "invoice-7", charge)
	fmt.Println(errors.Is(err, dedup.ErrInDoubt))
	// Output:
	// the bank did not answer
	// true
}
