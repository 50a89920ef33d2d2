// Package body decodes the bodies of requests and answers, so that a rule can
// read them, and writes one member into a body, encoded as it came and with
// every other byte as it was.
package body

import (
	"time"

	"oneticket/dedup"
)

// Limits bound what the decoding of one body may cost. The zero Limits bound
// nothing but what a body of 4 MiB may cost.
type Limits struct {
	Size   int64         // bytes, as it came and when inflated; default 4 MiB
	Budget time.Duration // of decoding; what is over it is given up between two steps; default 50 ms
	Now    func() time.Time
}

const (
	defaultSize   = 4 << 20
	defaultBudget = 50 * time.Millisecond
)

func (l Limits) filled() Limits {
	if l.Size <= 0 {
		l.Size = defaultSize
	}
	if l.Budget <= 0 {
		l.Budget = defaultBudget
	}
	if l.Now == nil {
		l.Now = time.Now
	}
	return l
}

// A Body is a decoded body. It shares memory with the bytes it was made of.
type Body struct {
	Plain []byte // without its content coding, in the charset it came in
	Text  []byte // the same as UTF-8, without byte order mark

	mark        []byte // the byte order mark of Plain
	coding      coding
	charset     *charset // nil is UTF-8
	contentType string
	budget      budget
}

// Decode reads a body that came with these headers. The error is a
// *dedup.Unkeyed: no_body, too_large, coding, charset or budget.
func Decode(raw []byte, contentType, contentEncoding string, limits Limits) (*Body, error) {
	limits = limits.filled()
	b := &Body{Plain: raw, contentType: contentType, budget: budget{now: limits.Now, until: limits.Now().Add(limits.Budget)}}
	if int64(len(raw)) > limits.Size {
		return nil, unkeyed(dedup.WhyTooLarge)
	}
	if err := b.inflate(contentEncoding, limits); err != nil {
		return nil, err
	}
	if len(b.Plain) == 0 {
		return nil, unkeyed(dedup.WhyNoBody)
	}
	if err := b.transcode(contentType); err != nil {
		return nil, err
	}
	return b, nil
}

// Value reads the text as what it is, which is not always what Content-Type
// says: JSON, XML, a form, its multipart kind, or a document of GraphQL. A form
// is the object of its fields, XML the object of its root element. What cannot
// be read is a *dedup.Unkeyed with unparsed, or with budget.
func (b *Body) Value(want *dedup.Want) (dedup.Value, error) {
	v, ok := b.read(want)
	switch {
	case b.budget.over: // also where only a field was not read to its end
		return dedup.Value{}, unkeyed(dedup.WhyBudget)
	case ok:
		return v, nil
	default:
		return dedup.Value{}, unkeyed(dedup.WhyUnparsed)
	}
}

func (b *Body) read(want *dedup.Want) (dedup.Value, bool) {
	switch b.format() {
	case isXML:
		return readXML(b.Text, want, &b.budget)
	case isForm:
		return b.readForm(want)
	case isMultipart:
		return b.readMultipart(want)
	case isGraphQL:
		return readDocument(b.Text, want), true
	default:
		v, err := dedup.ReadJSONWhile(b.Text, want, b.budget.goesOn)
		return v, err == nil
	}
}

func unkeyed(why string) error { return &dedup.Unkeyed{Why: why} }
