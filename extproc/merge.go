package extproc

import (
	"context"

	"oneticket/dedup"
)

// Merging is how the doubles of a rule are merged. All fields are required.
type Merging struct {
	Backend     string
	Credentials Credentials

	Read       func(*dedup.Request, dedup.Ticket) (dedup.Call, bool)
	ReadAnswer func(*dedup.Answer) dedup.ReadResult
	Call       func(survivor, duplicate dedup.Ticket) (dedup.Call, bool)
	Answer     func(*dedup.Answer) dedup.UpdateKind
}

// MergeDesk asks a backend on nobody's behalf: the credentials are those of the
// configuration.
func (c *Caller) MergeDesk(m Merging) dedup.MergeDesk { return &mergeDesk{c, m} }

type mergeDesk struct {
	calls *Caller
	m     Merging
}

// Read asks whether the ticket is open.
func (d *mergeDesk) Read(ctx context.Context, ticket dedup.Ticket) dedup.ReadResult {
	call, ok := d.m.Read(nil, ticket)
	if !ok {
		return dedup.ReadResult{}
	}
	r := d.call(ctx, call)
	if r.Sent != CallAnswered {
		return dedup.ReadResult{}
	}
	return d.m.ReadAnswer(&r.Answer)
}

// Merge closes or links the duplicate. One that cannot be written is refused,
// because it never will be.
func (d *mergeDesk) Merge(ctx context.Context, survivor, duplicate dedup.Ticket) dedup.UpdateKind {
	call, ok := d.m.Call(survivor, duplicate)
	if !ok {
		return dedup.UpdateRefused
	}
	r := d.call(ctx, call)
	switch r.Sent {
	case CallNotSent:
		return dedup.UpdateNotSent
	case CallUnknown:
		return dedup.UpdateUnknown
	}
	return d.m.Answer(&r.Answer)
}

func (d *mergeDesk) call(ctx context.Context, call dedup.Call) CallResult {
	return d.calls.Call(ctx, d.m.Backend, call, d.m.Credentials)
}
