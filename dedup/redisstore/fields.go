package redisstore

import (
	"fmt"
	"strconv"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// fieldNames are the fields of a record's hash: recordjson.Head in its order,
// and the rest of a recordjson.Packed. Times are microseconds since 1970.
// What is zero or empty is not stored.
var fieldNames = []string{
	"v", "version", "episode", "sends", "sent",
	"lease_until", "update_until", "claimed_at", "sent_at", "seen_at", "opened_at", "expires_at", "keep_until", "free_at",
	"state", "holder", "update_holder", "fingerprint", "suffix", "rest", "trail", "body", "prior", "prior_body",
	"nonce", // of the Swap that wrote this version
}

// values lists a record's fields in the order of fieldNames.
func values(p *recordjson.Packed, nonce string) []any {
	args := make([]any, 0, len(fieldNames))
	for _, n := range p.Head.Fields() {
		args = append(args, *n)
	}
	return append(args, string(p.State), p.Holder, p.UpdateHolder, p.Fingerprint, p.Suffix,
		p.Rest, p.Trail, p.Body, p.Prior, p.PriorBody, nonce)
}

// unpack is the inverse, without the nonce. A record of a newer format has its
// versions only.
func unpack(fields []any) (dedup.Record, error) {
	var p recordjson.Packed
	if len(fields) < len(fieldNames)-1 {
		return dedup.Record{}, fmt.Errorf("%d fields where a record has %d", len(fields), len(fieldNames)-1)
	}
	for i, n := range p.Head.Fields() {
		text, _ := fields[i].(string)
		if text == "" {
			continue
		}
		var err error
		if *n, err = strconv.ParseInt(text, 10, 64); err != nil && p.V <= dedup.Format {
			return dedup.Record{}, fmt.Errorf("%s is not a number", fieldNames[i])
		}
	}
	if p.Version == 0 {
		return dedup.Record{}, nil
	}
	rest := fields[recordjson.HeadLength:]
	for i, s := range []*string{(*string)(&p.State), &p.Holder, &p.UpdateHolder, &p.Fingerprint, &p.Suffix, &p.Rest, &p.Trail} {
		*s, _ = rest[i].(string)
	}
	p.Body, p.Prior, p.PriorBody = bytesOf(rest[7]), string(bytesOf(rest[8])), bytesOf(rest[9])
	return p.Unpack()
}

func bytesOf(v any) []byte {
	if s, _ := v.(string); s != "" {
		return []byte(s)
	}
	return nil
}
