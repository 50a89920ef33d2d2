package main

import "sync/atomic"

// counts is what arrived, since the start. Only requests to the table count.
type counts struct {
	requests, creates, updates, reads, refused, keyed, lost atomic.Int64
}

// Stats is counts as GET /stats shows them.
type Stats struct {
	Requests int64 `json:"requests"`     // all requests to the table
	Creates  int64 `json:"creates"`      // POSTs that made a ticket
	Tickets  int64 `json:"tickets"`      // the same number, as the operator counts it
	Keyed    int64 `json:"keyed"`        // creates that came with a correlation_id or an Idempotency-Key
	Updates  int64 `json:"updates"`      // PATCHes and PUTs that changed a ticket
	Reads    int64 `json:"reads"`        // GETs, of one ticket or of many
	Refused  int64 `json:"refused"`      // all that was answered 4xx
	Lost     int64 `json:"lost_answers"` // creates that were committed and not answered
}

func (c *counts) stats() Stats {
	made := c.creates.Load()
	return Stats{
		Requests: c.requests.Load(), Creates: made, Tickets: made, Keyed: c.keyed.Load(),
		Updates: c.updates.Load(), Reads: c.reads.Load(), Refused: c.refused.Load(), Lost: c.lost.Load(),
	}
}
