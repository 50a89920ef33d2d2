package recordjson

import "oneticket/dedup"

// restForm is what no store looks into. Names are short but tell what they
// are to somebody who looks into a store by hand.
type restForm struct {
	State       string         `json:"state,omitzero"`
	Token       string         `json:"token,omitzero"`
	Identity    []byte         `json:"identity,omitzero"`
	Class       string         `json:"class,omitzero"`
	Severity    string         `json:"severity,omitzero"`
	Cleared     bool           `json:"cleared,omitzero"`
	Holder      string         `json:"holder,omitzero"`
	Looking     bool           `json:"looking,omitzero"`
	Update      *updateForm    `json:"update,omitzero"`
	Attempts    []attemptForm  `json:"attempts,omitzero"`
	AnsweredAt  int64          `json:"answered,omitzero"`
	ClosedAt    int64          `json:"closed,omitzero"`
	VerifiedAt  int64          `json:"verified,omitzero"`
	LandsUntil  int64          `json:"lands,omitzero"`
	TicketID    string         `json:"ticket,omitzero"`
	Location    string         `json:"location,omitzero"`
	Response    *responseForm  `json:"response,omitzero"`
	Principals  []string       `json:"principals,omitzero"`
	Credentials []acceptedForm `json:"credentials,omitzero"`
	Provisional bool           `json:"provisional,omitzero"`
	Observed    bool           `json:"observed,omitzero"`
	Gone        bool           `json:"gone,omitzero"`
	InDoubt     bool           `json:"in_doubt,omitzero"`
	UpdatedAt   []int64        `json:"updated,omitzero"`
	Owed        bool           `json:"owed,omitzero"`
	Updates     int64          `json:"updates,omitzero"`
	Witness     []uint32       `json:"witness,omitzero"`
}

type updateForm struct {
	Holder    string `json:"holder,omitzero"`
	Severity  string `json:"severity,omitzero"`
	Cleared   bool   `json:"cleared,omitzero"`
	Reopening bool   `json:"reopening,omitzero"`
}

type attemptForm struct {
	Number   int64  `json:"number,omitzero"`
	Holder   string `json:"holder,omitzero"`
	Severity string `json:"severity,omitzero"`
	Cleared  bool   `json:"cleared,omitzero"`
	Token    string `json:"token,omitzero"`
	SentAt   int64  `json:"sent_at,omitzero"`
	EndedAt  int64  `json:"ended,omitzero"`
	Sent     bool   `json:"sent,omitzero"`
}

type acceptedForm struct {
	Hash string `json:"hash,omitzero"`
	At   int64  `json:"at,omitzero"`
}

type responseForm struct {
	Status int         `json:"status,omitzero"`
	Header [][2]string `json:"header,omitzero"`
	Empty  bool        `json:"empty,omitzero"` // the body is there and has no bytes
	Cut    bool        `json:"cut,omitzero"`
	Coding string      `json:"coding,omitzero"` // of the body as it is kept; see squeeze.go
}

func restOf(r *dedup.Record) restForm {
	return restForm{
		State: string(r.State), Token: armour(r.Token), Identity: r.Identity, Class: armour(r.Class),
		Severity: armour(r.Fingerprint.Severity), Cleared: r.Fingerprint.Cleared,
		Holder: armour(r.Holder), Looking: r.Looking,
		Update: updateOf(r.Update), Attempts: attemptsOf(r.Attempts),
		AnsweredAt: Micros(r.AnsweredAt), ClosedAt: Micros(r.ClosedAt),
		VerifiedAt: Micros(r.VerifiedAt), LandsUntil: Micros(r.LandsUntil),
		TicketID: armour(r.Ticket.ID), Location: armour(r.Ticket.Location),
		Response: responseOf(r.Response), Principals: each(r.Principals, armour),
		Credentials: each(r.Credentials, func(a dedup.Accepted) acceptedForm { return acceptedForm{armour(a.Hash), Micros(a.At)} }),
		Provisional: r.Provisional, Observed: r.Observed, Gone: r.Gone, InDoubt: r.InDoubt, Owed: r.Owed,
		UpdatedAt: each(r.UpdatedAt, Micros), Updates: r.Updates, Witness: r.Witness,
	}
}

func (f *restForm) record(body []byte) dedup.Record {
	return dedup.Record{
		State: dedup.State(f.State), Token: bare(f.Token), Identity: f.Identity, Class: bare(f.Class),
		Fingerprint: dedup.Fingerprint{Severity: bare(f.Severity), Cleared: f.Cleared},
		Holder:      bare(f.Holder), Looking: f.Looking,
		Update: f.Update.claim(), Attempts: each(f.Attempts, attemptForm.attempt),
		AnsweredAt: Time(f.AnsweredAt), ClosedAt: Time(f.ClosedAt),
		VerifiedAt: Time(f.VerifiedAt), LandsUntil: Time(f.LandsUntil),
		Ticket:   dedup.Ticket{ID: bare(f.TicketID), Location: bare(f.Location)},
		Response: f.Response.response(body), Principals: each(f.Principals, bare),
		Credentials: each(f.Credentials, func(a acceptedForm) dedup.Accepted { return dedup.Accepted{Hash: bare(a.Hash), At: Time(a.At)} }),
		Provisional: f.Provisional, Observed: f.Observed, Gone: f.Gone, InDoubt: f.InDoubt, Owed: f.Owed,
		UpdatedAt: each(f.UpdatedAt, Time), Updates: f.Updates, Witness: f.Witness,
	}
}

func updateOf(u *dedup.UpdateClaim) *updateForm {
	if u == nil {
		return nil
	}
	return &updateForm{
		Holder: armour(u.Holder), Severity: armour(u.Fingerprint.Severity),
		Cleared: u.Fingerprint.Cleared, Reopening: u.Reopening,
	}
}

func (f *updateForm) claim() *dedup.UpdateClaim {
	if f == nil {
		return nil
	}
	return &dedup.UpdateClaim{
		Holder:      bare(f.Holder),
		Fingerprint: dedup.Fingerprint{Severity: bare(f.Severity), Cleared: f.Cleared},
		Reopening:   f.Reopening,
	}
}

func attemptsOf(attempts []dedup.Attempt) []attemptForm {
	return each(attempts, func(a dedup.Attempt) attemptForm {
		return attemptForm{
			Number: a.Number, Holder: armour(a.Holder), Severity: armour(a.Fingerprint.Severity),
			Cleared: a.Fingerprint.Cleared, Token: armour(a.Token),
			SentAt: Micros(a.SentAt), EndedAt: Micros(a.EndedAt), Sent: a.Sent,
		}
	})
}

func (f attemptForm) attempt() dedup.Attempt {
	return dedup.Attempt{
		Number: f.Number, Holder: bare(f.Holder),
		Fingerprint: dedup.Fingerprint{Severity: bare(f.Severity), Cleared: f.Cleared},
		Token:       bare(f.Token), SentAt: Time(f.SentAt), EndedAt: Time(f.EndedAt), Sent: f.Sent,
	}
}

func responseOf(r *dedup.Response) *responseForm {
	if r == nil {
		return nil
	}
	header := each(r.Header, func(h dedup.HeaderField) [2]string {
		return [2]string{armour(h.Name), armour(h.Value)}
	})
	return &responseForm{Status: r.Status, Header: header, Empty: r.Body != nil && len(r.Body) == 0, Cut: r.Cut}
}

func (f *responseForm) response(body []byte) *dedup.Response {
	if f == nil {
		return nil
	}
	if len(body) == 0 {
		body = nil
	}
	if f.Empty {
		body = []byte{}
	}
	header := each(f.Header, func(h [2]string) dedup.HeaderField {
		return dedup.HeaderField{Name: bare(h[0]), Value: bare(h[1])}
	})
	return &dedup.Response{Status: f.Status, Header: header, Body: body, Cut: f.Cut}
}
