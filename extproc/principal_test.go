package extproc_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
	"oneticket/extproc"
)

const (
	rightPassword = "s3cret"
	wrongPassword = "guessed"
)

func basic(user, password string) []string {
	return []string{"authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)), "content-type", "application/json"}
}

// byUser is a rule whose principal is the user of Basic.
func byUser(r *rig, _ *extproc.Options) {
	r.rule.Principal = func(q *dedup.Request) string {
		value, _ := q.HeaderValue("authorization")
		plain, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(value, "Basic "))
		user, _, _ := strings.Cut(string(plain), ":")
		return user
	}
}

// first makes the ticket 0001 as the bot.
func (r *rig) first() {
	r.t.Helper()
	p := r.proxy()
	if m := p.create(createBody, basic("bot", rightPassword)...); metadata(m, "decision") != "create" {
		r.t.Fatalf("the first request gets %v", m)
	}
	p.answer("201", created1)
	p.gone()
	r.eventually(createBody, dedup.Open)
}

// sentOn reports whether the request went on to the backend, with the record's
// token.
func (r *rig) sentOn(m *extprocv3.ProcessingResponse) bool {
	r.t.Helper()
	if m.GetImmediateResponse() != nil {
		return false
	}
	if got, want := header(m.GetRequestBody().GetResponse().GetHeaderMutation(), "idempotency-key"), r.record(createBody).Token; got != want {
		r.t.Errorf("it is sent on with the key %q, want %q", got, want)
	}
	return true
}

func isReplay(m *extprocv3.ProcessingResponse) bool {
	return header(m.GetImmediateResponse().GetHeaders(), "idempotent-replayed") == "true"
}

func TestARightUserWithAWrongPasswordGetsNothing(t *testing.T) {
	r := newRig(t, byUser)
	r.first()
	for _, try := range []string{"once", "again"} {
		p := r.proxy()
		m := p.create(createBody, basic("bot", wrongPassword)...)
		if !r.sentOn(m) {
			t.Fatalf("%s: he gets %v", try, m)
		}
		head, rest := p.answer("401", `{"error":"User Not Authenticated"}`, "www-authenticate", "Basic")
		if head.GetImmediateResponse() != nil || rest.GetImmediateResponse() != nil {
			t.Errorf("%s: the backend's refusal is replaced by %v %v", try, head, rest)
		}
	}
	if rec := r.record(createBody); rec.State != dedup.Open || len(rec.Principals) != 1 || len(rec.Credentials) != 1 {
		t.Errorf("the record has %s, %v and %v", rec.State, rec.Principals, rec.Credentials)
	}
	if m := r.proxy().create(createBody, basic("bot", rightPassword)...); !isReplay(m) {
		t.Errorf("with the right one he gets %v", m)
	}
}

func TestASecondUserGetsTheTicketOnlyAfterTheBackendAcceptedHim(t *testing.T) {
	r := newRig(t, byUser)
	r.first()
	for _, c := range []struct{ status, body string }{
		{"403", `{"error":"not yours"}`}, {"500", `{}`}, {"201", `{"result":{"sys_id":"0001"}}`},
	} {
		p := r.proxy()
		if m := p.create(createBody, basic("operator", "hush")...); !r.sentOn(m) {
			t.Fatalf("before the backend said %s he gets %v", c.status, m)
		}
		p.answer(c.status, c.body)
	}
	if m := r.proxy().create(createBody, basic("operator", "hush")...); !isReplay(m) || string(m.GetImmediateResponse().GetBody()) != created1 {
		t.Errorf("he gets %v", m)
	}
	if m := r.proxy().create(createBody, basic("bot", rightPassword)...); !isReplay(m) {
		t.Errorf("the first user gets %v", m)
	}
	if rec := r.record(createBody); rec.Ticket.ID != "0001" || len(rec.Principals) != 2 {
		t.Errorf("the record has %s and %v", rec.Ticket.ID, rec.Principals)
	}
}

func TestAUserKnownToTheBackendIsNotYetOneWhoMaySeeTheTicket(t *testing.T) {
	r := newRig(t, byUser)
	r.first()
	p := r.proxy()
	p.create(otherBody, basic("operator", "hush")...)
	p.answer("201", `{"result":{"sys_id":"0002"}}`)
	if m := r.proxy().create(createBody, basic("operator", "hush")...); !r.sentOn(m) {
		t.Errorf("he gets %v", m)
	}
}

func TestTheTicketThatASecondUserMadeIsReportedAsADouble(t *testing.T) {
	reported := make(chan dedup.Ticket, 4)
	r := newRig(t, func(r *rig, o *extproc.Options) {
		r.engine = dedup.NewEngine(dedup.EngineOptions{Store: r.store, Report: func(p dedup.Report) {
			for _, double := range p.Duplicates {
				reported <- double
			}
		}})
		o.Decider = r.engine
	})
	r.first()
	p := r.proxy()
	p.create(createBody, basic("operator", "hush")...)
	p.answer("201", `{"result":{"sys_id":"0002"}}`)
	if double := <-reported; double.ID != "0002" {
		t.Errorf("reported %v", double)
	}
	if rec := r.record(createBody); rec.Ticket.ID != "0001" {
		t.Errorf("the record has the ticket %s", rec.Ticket.ID)
	}
}

func TestAnAcceptedCredentialIsBelievedForItsTimeOnly(t *testing.T) {
	clock := newClock()
	r := newRig(t, func(r *rig, o *extproc.Options) {
		r.store = storetest.NewMemory(clock.now)
		r.engine = dedup.NewEngine(dedup.EngineOptions{Store: r.store})
		o.Decider, o.Now, o.PrincipalTTL = r.engine, clock.now, 10*time.Minute
	})
	r.first()
	clock.move(9 * time.Minute)
	if m := r.proxy().create(createBody, basic("bot", rightPassword)...); !isReplay(m) {
		t.Fatalf("within its time it gets %v", m)
	}
	clock.move(2 * time.Minute)
	p := r.proxy()
	if m := p.create(createBody, basic("bot", rightPassword)...); !r.sentOn(m) {
		t.Fatalf("after it, it gets %v", m)
	}
	p.answer("201", created1)
	clock.move(9 * time.Minute)
	if m := r.proxy().create(createBody, basic("bot", rightPassword)...); !isReplay(m) {
		t.Errorf("accepted anew, it gets %v", m)
	}
}

func TestACredentialThatTheBackendRefusesIsNotBelievedAnyMore(t *testing.T) {
	r := newRig(t, nil)
	r.first()
	p := r.proxy()
	p.create(otherBody, basic("bot", rightPassword)...)
	p.answer("401", `{"error":"User Not Authenticated"}`)
	if m := r.proxy().create(createBody, basic("bot", rightPassword)...); !r.sentOn(m) {
		t.Errorf("it gets %v", m)
	}
}

func TestAnotherReplicaBelievesTheRecord(t *testing.T) {
	a := newRig(t, byUser)
	a.first()
	b := newRig(t, func(r *rig, o *extproc.Options) {
		byUser(r, o)
		r.store = a.store
		r.engine = dedup.NewEngine(dedup.EngineOptions{Store: a.store})
		o.Decider = r.engine
	})
	if m := b.proxy().create(createBody, basic("bot", wrongPassword)...); !b.sentOn(m) {
		t.Errorf("with a wrong password it gives %v", m)
	}
	if m := b.proxy().create(createBody, basic("bot", rightPassword)...); !isReplay(m) {
		t.Errorf("it gives %v", m)
	}
}

func TestNobodyIsKnownWhileTheSecretIsOutOfReach(t *testing.T) {
	clock := newClock()
	down := atomic.Bool{}
	r := newRig(t, func(r *rig, o *extproc.Options) {
		o.Decider, o.Now = secretless{r.engine, &down}, clock.now
	})
	down.Store(true)
	r.first()
	unseen := r.proxy()
	if m := unseen.create(createBody, basic("bot", rightPassword)...); !r.sentOn(m) {
		t.Fatalf("it gets %v", m)
	}
	unseen.answer("201", created1)
	down.Store(false)
	clock.move(time.Second)
	p := r.proxy()
	if m := p.create(createBody, basic("bot", rightPassword)...); !r.sentOn(m) {
		t.Fatalf("nobody has seen whose the ticket is, and it gets %v", m)
	}
	p.answer("201", created1)
	if m := r.proxy().create(createBody, basic("bot", rightPassword)...); !isReplay(m) {
		t.Errorf("it gets %v", m)
	}
}

// secretless is an engine whose secret may be out of reach.
type secretless struct {
	*dedup.Engine
	down *atomic.Bool
}

func (s secretless) Secret(ctx context.Context) ([]byte, error) {
	if s.down.Load() {
		return nil, storetest.ErrLost
	}
	return s.Engine.Secret(ctx)
}

func TestNoCredentialIsStoredOrLogged(t *testing.T) {
	r := newRig(t, byUser)
	r.first()
	p := r.proxy()
	p.create(createBody, append([]string{"cookie", "sid=" + rightPassword, "x-api-key", rightPassword}, basic("bot", rightPassword)...)...)
	p.answer("201", created1)
	p.gone()
	drain(t, r)
	stored, err := json.Marshal(r.record(createBody))
	if err != nil {
		t.Fatal(err)
	}
	encoded := strings.TrimPrefix(basic("bot", rightPassword)[1], "Basic ")
	for what, text := range map[string]string{"the record": string(stored), "the log": r.log.text(slog.LevelDebug)} {
		for _, secret := range []string{rightPassword, encoded} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s: %s", what, secret, text)
			}
		}
	}
}

func TestTheWholeCredentialCounts(t *testing.T) {
	for name, more := range map[string][]string{
		"another cookie":            {"cookie", "session=2"},
		"no cookie":                 nil,
		"another key":               {"cookie", "session=1", "x-api-key", "k2"},
		"one that the preset names": {"cookie", "session=1", "x-agent", "7"},
		"the same":                  {"cookie", "session=1"},
		"the same, on another try":  {"cookie", "session=1", "idempotency-key-of-try", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig, _ *extproc.Options) {
				r.rule.CredentialHeader = func(name string) bool { return name == "x-agent" }
			})
			p := r.proxy()
			p.create(createBody, append([]string{"cookie", "session=1"}, bearer...)...)
			p.answer("201", created1)
			m := r.proxy().create(createBody, append(slices.Clone(bearer), more...)...) // in another order
			if want := strings.HasPrefix(name, "the same"); isReplay(m) != want {
				t.Errorf("replayed is %v, want %v: %v", isReplay(m), want, m)
			}
		})
	}
}

func TestCallsPresentWhatTheClientPresentedToTheBackend(t *testing.T) {
	rule := ruleOf()
	rule.CredentialHeader = func(name string) bool { return name == "x-agent" }
	var header []dedup.HeaderField
	for _, name := range []string{
		"accept", "authorization", "content-type", "cookie", "idempotency-key", "proxy-authorization", "user-agent",
		"x-agent", "x-api-key", "x-atlassian-token", extproc.CallHeader,
	} {
		header = append(header, dedup.HeaderField{Name: name, Value: "v"})
	}
	if got, want := strings.Join(rule.Presented(header), " "), "authorization cookie x-agent x-api-key x-atlassian-token"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnUpdateThatTheBackendTookFromTheSenderIsAnswered(t *testing.T) {
	record := dedup.Record{State: dedup.Open, Ticket: dedup.Ticket{ID: "0001"}, Response: &dedup.Response{Status: 201, Body: []byte(created1)}}
	for name, failed := range map[string]bool{"it took it": false, "it did not": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(_ *rig, o *extproc.Options) {
				o.Decider = &scripted{verdict: dedup.Verdict{Kind: dedup.Update, Reason: dedup.Changed, Record: record, UpdateFailed: failed}}
			})
			m := r.proxy().create(createBody)
			if answered := m.GetImmediateResponse() != nil; answered == failed || isReplay(m) {
				t.Errorf("the sender gets %v", m)
			}
		})
	}
}
