package storetest

import (
	"time"

	"oneticket/dedup"
)

func replay(s *scene) {
	body := make([]byte, 0, 3*256)
	for range 3 {
		for b := range 256 {
			body = append(body, byte(b))
		}
	}
	response := &dedup.Response{
		Status: 201,
		Header: []dedup.HeaderField{
			{Name: "Set-Header", Value: "b"},
			{Name: "content-type", Value: "application/json; charset=\"utf-8\""},
			{Name: "Set-Header", Value: "a"},
			{Name: "Set-Header", Value: "b"},
			{Name: "x-raw", Value: "caf\xe9 \xff\xfe \u2028 <&> \\ \x01"},
			{Name: "X-Empty", Value: ""},
		},
		Body: body,
		Cut:  true,
	}
	ref := refOf("replay")
	open := s.opened(ref, time.Hour)
	open.Response = response
	s.same("as it was written", s.swap(s.one, ref, open.Version, open, "").Response, response)
	s.same("to another client", s.get(ref).Record.Response, response)
	s.data.Forward(30 * time.Minute)
	s.same("to a re-fire that prolongs", s.lost(s.two, ref, offerOf(another, ref)).Record.Response, response)
	s.same("to a re-fire", s.lost(s.two, ref, offerOf(another, ref)).Record.Response, response)
	s.data.Forward(2 * time.Hour)
	s.same("as prior", s.won(s.two, ref, offerOf(another, ref)).Record.Prior.Response, response)
}

func emptyBodies(s *scene) {
	for name, response := range map[string]*dedup.Response{
		"none":    nil,
		"no body": {Status: 202},
		"empty":   {Status: 204, Body: []byte{}},
	} {
		ref := refOf("empty-" + name)
		open := s.opened(ref, time.Minute)
		open.Response = response
		open = s.swap(s.one, ref, open.Version, open, "")
		s.same(name, s.get(ref).Record, open)
		if got := s.get(ref).Record.Response; response != nil && (got.Body == nil) != (response.Body == nil) {
			s.Fatalf("%s: body %#v, want %#v", name, got.Body, response.Body)
		}
		s.data.Forward(2 * time.Minute)
		s.same(name+", as prior", *s.won(s.two, ref, offerOf(another, ref)).Record.Prior, open)
	}
}

func everyField(s *scene) {
	ref := refOf("every")
	now := s.get(ref).Now
	next := fullRecord(now)
	prior := fullRecord(now.Add(-time.Hour))
	next.Prior = &prior
	prior.Version, prior.Episode = 17, 4
	written := s.swap(s.one, ref, 0, next, "")
	next.Version = 1
	s.same("as it was written", written, next)
	s.same("as another client sees it", s.get(ref).Record, next)
}

// fullRecord has a value in every field but the prior, and times of a
// microsecond.
func fullRecord(base time.Time) dedup.Record {
	base = base.Truncate(time.Second)
	n := 0
	at := func() time.Time { n++; return base.Add(time.Duration(n) * 1_000_001 * time.Microsecond) }
	return dedup.Record{
		V: dedup.Format, State: dedup.Open, Version: 1, Episode: 5, Sends: 3,
		Token: "idem:00.5", Identity: []byte("a=\u00e9|\xff"), Class: "core", Fingerprint: major,
		Holder: "h", LeaseUntil: at(), Looking: true,
		Update: &dedup.UpdateClaim{Holder: "u", LeaseUntil: at(), Fingerprint: minor, Reopening: true},
		Attempts: []dedup.Attempt{
			{Number: 1, Holder: "a1", Fingerprint: major, Token: "t1", SentAt: at(), EndedAt: at(), Sent: true},
			{Number: 2, Holder: "a2", Fingerprint: dedup.Fingerprint{Cleared: true}, Token: "t2", SentAt: at()},
		},
		ClaimedAt: at(), SentAt: at(), AnsweredAt: at(), OpenedAt: at(), ClosedAt: at(), VerifiedAt: at(),
		SeenAt: at(), LandsUntil: at(), ExpiresAt: at(), KeepUntil: at().Add(time.Hour), FreeAt: at(),
		Ticket:      dedup.Ticket{ID: "INC1", Location: "/caf\xe9"},
		Response:    &dedup.Response{Status: 201, Header: []dedup.HeaderField{{Name: "a", Value: "b"}}, Body: []byte{0, 255}, Cut: true},
		Principals:  []string{"p1", "p2"},
		Credentials: []dedup.Accepted{{Hash: "c1", At: at()}},
		Provisional: true, Observed: true, Gone: true, InDoubt: true, Owed: true, Sent: true,
		Updates: 7, UpdatedAt: []time.Time{at(), at()}, Witness: []uint32{0, 1<<32 - 1},
		Trail: []dedup.Trace{
			{At: at(), Kind: dedup.Create, Reason: dedup.First, Config: "c1", By: "r1"},
			{At: at(), Kind: dedup.Update, Reason: dedup.Changed, Config: "c2", By: "r2"},
		},
	}
}
