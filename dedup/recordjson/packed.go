package recordjson

import (
	"encoding/json"
	"fmt"

	"oneticket/dedup"
)

// Packed is a record in parts.
//
// What stands in Head and Suffix is nowhere else. Holder, UpdateHolder,
// Fingerprint and State are for the store's comparisons: Rest has them too.
type Packed struct {
	Head

	State        dedup.State
	Holder       string
	UpdateHolder string
	Fingerprint  string // see FingerprintText

	Suffix string // what the store itself appends to the token in Rest: ASCII, empty when Go wrote the record
	Rest   string // JSON object
	Trail  string // JSON array or null
	Body   []byte // of the response, perhaps compressed, as Rest says; nil also when the response's body is empty

	// Prior is empty when there is none, else
	//
	//	{"head":[...],"suffix":"...","trail":TRAIL,"rest":REST}
	//
	// with Head in the order of its fields.
	Prior     string
	PriorBody []byte
}

// Head is what stores compare, count and move.
type Head struct {
	V       int64
	Version int64
	Episode int64
	Sends   int64
	Sent    int64 // 0 or 1

	LeaseUntil  int64
	UpdateUntil int64 // the update claim's lease
	ClaimedAt   int64
	SentAt      int64
	SeenAt      int64
	OpenedAt    int64
	ExpiresAt   int64
	KeepUntil   int64
	FreeAt      int64
}

// HeadLength is the number of fields of a Head.
const HeadLength = 14

// Fields returns the fields of the head in their order.
func (h *Head) Fields() [HeadLength]*int64 {
	return [HeadLength]*int64{
		&h.V, &h.Version, &h.Episode, &h.Sends, &h.Sent,
		&h.LeaseUntil, &h.UpdateUntil, &h.ClaimedAt, &h.SentAt, &h.SeenAt,
		&h.OpenedAt, &h.ExpiresAt, &h.KeepUntil, &h.FreeAt,
	}
}

// Pack takes a record apart. Its own and its prior's format is dedup.Format
// where it names none.
func Pack(r dedup.Record) (Packed, error) {
	p, err := packOne(&r)
	if err != nil || r.Prior == nil {
		return p, err
	}
	prior, err := packOne(r.Prior)
	if err != nil {
		return p, err
	}
	p.Prior, err = prior.asPrior()
	p.PriorBody = prior.Body
	return p, err
}

// Unpack puts a record together. Of a record of a newer format only V and
// Version are read.
func (p *Packed) Unpack() (dedup.Record, error) {
	if p.V > dedup.Format {
		return dedup.Record{V: int(p.V), Version: p.Version}, nil
	}
	r, err := p.unpackOne()
	if err != nil || p.Prior == "" {
		return r, err
	}
	var prior priorForm
	if err := json.Unmarshal([]byte(p.Prior), &prior); err != nil {
		return r, fmt.Errorf("prior: %w", err)
	}
	parts := prior.packed(p.PriorBody)
	was, err := parts.unpackOne()
	if err != nil {
		return r, fmt.Errorf("prior: %w", err)
	}
	r.Prior = &was
	return r, nil
}

// FingerprintText is equal for equal known fingerprints, and empty for the
// unknown one, which equals none.
func FingerprintText(f dedup.Fingerprint) string {
	switch {
	case !f.Known():
		return ""
	case f.Cleared:
		return "c" + f.Severity
	default:
		return "o" + f.Severity
	}
}

func packOne(r *dedup.Record) (Packed, error) {
	p := Packed{
		Head:        headOf(r),
		State:       r.State,
		Holder:      r.Holder,
		Fingerprint: FingerprintText(r.Fingerprint),
	}
	if r.Update != nil {
		p.UpdateHolder = r.Update.Holder
	}
	form := restOf(r)
	if r.Response != nil && len(r.Response.Body) > 0 {
		p.Body, form.Response.Coding = squeeze(r.Response.Body)
	}
	rest, err := json.Marshal(form)
	if err != nil {
		return p, err
	}
	trail, err := json.Marshal(trailOf(r.Trail))
	p.Rest, p.Trail = string(rest), string(trail)
	return p, err
}

func (p *Packed) unpackOne() (dedup.Record, error) {
	var rest restForm
	if err := json.Unmarshal([]byte(p.Rest), &rest); err != nil {
		return dedup.Record{}, fmt.Errorf("rest: %w", err)
	}
	var trail []traceForm
	if err := json.Unmarshal([]byte(p.Trail), &trail); err != nil {
		return dedup.Record{}, fmt.Errorf("trail: %w", err)
	}
	body := p.Body
	if rest.Response != nil {
		var err error
		if body, err = expand(body, rest.Response.Coding); err != nil {
			return dedup.Record{}, err
		}
	}
	r := rest.record(body)
	r.Token += p.Suffix
	r.Trail = traces(trail)
	p.Head.fill(&r)
	return r, nil
}
