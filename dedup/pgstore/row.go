package pgstore

import (
	"errors"
	"fmt"
	"strings"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// errReply: the database answered, and it is not what is asked for.
var errReply = errors.New("a reply that cannot be read")

// numbers, texts and blobs are the columns of a record but its ref and its
// nonce: recordjson.Head in its order, and the rest of a recordjson.Packed.
// The identity, as bytes, has a column of its own.
var (
	numbers = []string{
		"v", "version", "episode", "sends", "sent",
		"lease_until", "update_until", "claimed_at", "sent_at", "seen_at", "opened_at", "expires_at", "keep_until", "free_at",
	}
	texts = []string{"state", "holder", "update_holder", "fingerprint", "suffix", "rest", "trail", "prior"}
	blobs = []string{"identity", "body", "prior_identity", "prior_body"}
)

// columns lists them as of the row that is called so; where there is no row,
// they are zero and empty.
func columns(row string) string {
	var all []string
	for _, name := range numbers {
		all = append(all, fmt.Sprintf("coalesce(%s.%s, 0)", row, name))
	}
	for _, name := range texts {
		all = append(all, fmt.Sprintf("coalesce(%s.%s, '')", row, name))
	}
	for _, name := range blobs {
		all = append(all, row+"."+name)
	}
	return strings.Join(all, ", ")
}

// A row is one record as it lies in the database.
type row struct {
	recordjson.Packed
	identity, priorIdentity []byte
}

// pack takes a record apart.
func pack(rec dedup.Record) (row, error) {
	r := row{identity: rec.Identity}
	rec.Identity = nil
	if rec.Prior != nil {
		prior := *rec.Prior
		r.priorIdentity, prior.Identity = prior.Identity, nil
		rec.Prior = &prior
	}
	var err error
	r.Packed, err = recordjson.Pack(rec)
	r.Holder, r.UpdateHolder, r.Fingerprint = armour(r.Holder), armour(r.UpdateHolder), armour(r.Fingerprint)
	return r, err
}

// record puts it together; zero where there is none.
func (r *row) record() (dedup.Record, error) {
	if r.Version == 0 {
		return dedup.Record{}, nil
	}
	rec, err := r.Unpack()
	if err != nil {
		return rec, fmt.Errorf("%w: %w", errReply, err)
	}
	if r.V > dedup.Format {
		return rec, nil
	}
	rec.Identity = r.identity
	if rec.Prior != nil {
		rec.Prior.Identity = r.priorIdentity
	}
	return rec, nil
}

// dest lists where the columns go.
func (r *row) dest() []any {
	var dest []any
	for _, n := range r.Head.Fields() {
		dest = append(dest, n)
	}
	return append(dest, (*string)(&r.State), &r.Holder, &r.UpdateHolder, &r.Fingerprint, &r.Suffix, &r.Rest, &r.Trail, &r.Prior,
		&r.identity, &r.Body, &r.priorIdentity, &r.PriorBody)
}

// values lists what swap is given of a record, in its order.
func (r *row) values(nonce string) []any {
	var args []any
	for _, n := range r.Head.Fields() {
		args = append(args, *n)
	}
	return append(args, string(r.State), r.Holder, r.UpdateHolder, r.Fingerprint, r.Suffix, armour(nonce), r.Rest, r.Trail,
		r.identity, r.Body, r.Prior, r.priorIdentity, r.PriorBody)
}
