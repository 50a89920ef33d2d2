package extproc

import (
	"errors"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// read finds the rule that the request is for, and the fault in it; no rule if
// the body says that it is no create of any.
func (x *exchange) read(raw []byte) (*Rule, dedup.Fault, error) {
	for _, rule := range x.matched {
		x.request.Body, x.request.Raw = dedup.Value{}, nil
		b, err := body.Decode(raw, x.head.value("content-type"), x.head.value("content-encoding"), x.server.limits(rule))
		if err != nil {
			return rule, dedup.Fault{}, err
		}
		x.request.Raw = b.Text
		value, unparsed := b.Value(rule.Want)
		x.request.Body = value
		fault, err := x.readFault(rule, b)
		if errors.Is(err, dedup.ErrNoMatch) {
			continue
		}
		fault.Backend = rule.Backend // whose ticket ids are meant
		return rule, fault, whyMissing(err, unparsed)
	}
	return nil, dedup.Fault{}, nil
}

// readFault reads the fault of a request; of one that holds several creates,
// all of them into x.bulk.
func (x *exchange) readFault(rule *Rule, b *body.Body) (dedup.Fault, error) {
	if rule.Each != nil {
		if list := at(x.request.Body, rule.Each.List); list.Kind == dedup.ListValue {
			return x.readBulk(rule, b, list.Items)
		}
	}
	return rule.Fault(&x.request)
}

// whyMissing says of a field that is missing because the body does not parse
// that the body does not parse.
func whyMissing(err, unparsed error) error {
	if unparsed == nil {
		return err
	}
	var missing *dedup.Unkeyed
	if !errors.As(err, &missing) || missing.Why != dedup.WhyMissing {
		return err
	}
	return &dedup.Unkeyed{Why: dedup.WhyUnparsed, Field: missing.Field}
}
