package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"oneticket/dedup"
)

// A till takes payments. What the client calls its Idempotency-Key names one.
type till struct {
	once *dedup.Once
	bank string
}

// A charge is what is kept of a payment for a day: what was asked for, and the
// bank's receipt.
type charge struct {
	Order   json.RawMessage `json:"order"`
	Receipt string          `json:"receipt"`
}

// errDeclined is the bank's no: no money has moved, and the client may try
// again with the same key.
var errDeclined = errors.New("declined")

func (t *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, ok := dedup.ClientKey(r.Header.Get("Idempotency-Key"), "payments")
	if !ok {
		http.Error(w, "a payment needs an Idempotency-Key", http.StatusBadRequest)
		return
	}
	order, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil || !json.Valid(order) {
		http.Error(w, "an order is JSON", http.StatusBadRequest)
		return
	}
	// The payment goes on when the client hangs up: it is asked for again.
	result, replayed, err := t.once.Do(context.WithoutCancel(r.Context()), key, func(ctx context.Context) ([]byte, error) {
		receipt, err := t.charge(ctx, order)
		if err != nil {
			return nil, err
		}
		return json.Marshal(charge{Order: order, Receipt: receipt})
	})
	switch {
	case errors.Is(err, errDeclined):
		http.Error(w, err.Error(), http.StatusPaymentRequired)
	case errors.Is(err, dedup.ErrRunning):
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, dedup.ErrInDoubt):
		http.Error(w, "nobody knows whether this payment was made: a person has to look", http.StatusConflict)
	case err != nil && result == nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default: // with an error beside the result: it was made, but is not remembered
		give(w, order, result, replayed)
	}
}

// give answers with the receipt, unless the key is that of another order.
func give(w http.ResponseWriter, order, result []byte, replayed bool) {
	var made charge
	var plain bytes.Buffer
	if err := errors.Join(json.Unmarshal(result, &made), json.Compact(&plain, order)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !bytes.Equal(made.Order, plain.Bytes()) {
		http.Error(w, "this Idempotency-Key is that of another order", http.StatusUnprocessableEntity)
		return
	}
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintln(w, made.Receipt)
}

// charge asks the bank. All but its yes and its no leaves a doubt.
func (t *till) charge(ctx context.Context, order []byte) (receipt string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.bank, bytes.NewReader(order))
	if err != nil {
		return "", err // nothing was sent
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", dedup.Unsure(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	switch {
	case err == nil && res.StatusCode == http.StatusOK:
		return string(text), nil
	case res.StatusCode == http.StatusPaymentRequired:
		return "", errDeclined
	default:
		return "", dedup.Unsure(errors.Join(fmt.Errorf("the bank answers %s", res.Status), err))
	}
}
