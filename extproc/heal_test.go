package extproc_test

import (
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

var bot = basic("bot", rightPassword)

func TestALostAnswerIsHealedWhileTheClientWaits(t *testing.T) {
	t.Parallel()
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) { r.rule.HealWithin = 2 * time.Second })
	p := r.proxy()
	p.create(createBody, bot...)
	s.make(r.record(createBody).Token)
	m := p.loses(createBody)
	if a := m.GetImmediateResponse(); a.GetStatus().GetCode() != 201 || !strings.Contains(string(a.GetBody()), "0001") {
		t.Fatalf("the client gets %v", m)
	}
	if got := decisionOf(m); got != "suppress; reason=recovered" || isReplay(m) {
		t.Errorf("it sees %q", got)
	}
	if m := r.proxy().decided(createBody, bot...); !isReplay(m) {
		t.Errorf("a re-fire gets %v", m)
	}
	if s.size() != 1 || s.count("GET list") != 1 || r.count.of("healed", "faults") != 1 || r.count.of("looked up", "snow", "open") != 1 {
		t.Errorf("%v, counted %v", s.calls, r.count.n)
	}
}

func TestWhereNothingIsFoundTheClientGetsTheFailure(t *testing.T) {
	t.Parallel()
	letters := &letterBox{}
	r, s := newDeskRig(t, func(r *rig, o *extproc.Options, _ *dedup.Policy) {
		r.rule.HealWithin = 50 * time.Millisecond
		o.Letters = letters
	})
	p := r.proxy()
	p.create(createBody, bot...)
	if m := p.loses(createBody); m.GetResponseBody() == nil {
		t.Fatalf("the client gets %v", m)
	}
	letters.has(t, "put unknown 503 1")
	p.gone()
	s.make(r.record(createBody).Token) // it lands late
	r.eventually(createBody, dedup.Open)
	letters.eventually(t, "removed 1")
	if s.count("POST list") != 0 {
		t.Error("it was sent again although it may have been there")
	}
}

// A backend that folds is asked by the create itself, also where it could be
// looked up: only a create's own answer has all that a client goes on with.
func TestWhereTheBackendFoldsALostCreateIsSentAgainWhileTheClientWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resend int
		lookUp bool
		script []int // what the first of ours are answered with
		posts  int
		status int // of the client's answer; 0: the failure
	}{
		"at once":                         {resend: 4, posts: 1, status: 201},
		"with a look-up":                  {resend: 4, lookUp: true, posts: 1, status: 201},
		"after another failure":           {resend: 4, script: []int{504}, posts: 2, status: 201},
		"not where nothing is sent again": {posts: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, p *dedup.Policy) {
				r.rule.HealWithin, r.rule.Resend = 2*time.Second, c.resend
				p.Memory, p.CanLookUp = dedup.Folds, c.lookUp
				p.Settle = time.Minute
			})
			s.script["POST list"] = c.script
			p := r.proxy()
			p.create(createBody, bot...)
			m := p.loses(createBody)
			if got := int(m.GetImmediateResponse().GetStatus().GetCode()); got != c.status || s.count("POST list") != c.posts || s.count("GET list") != 0 {
				t.Errorf("the client gets %v, calls %v", m, s.calls)
			}
			if c.status != 0 && (decisionOf(m) != "suppress; reason=recovered" || r.count.of("healed", "faults") != 1) {
				t.Errorf("it sees %q, counted %v", decisionOf(m), r.count.n)
			}
		})
	}
}

func TestWithoutHealingNobodyIsAsked(t *testing.T) {
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) { r.rule.Resend = 4 })
	p := r.proxy()
	p.create(createBody, bot...)
	if m := p.loses(createBody); m.GetResponseBody() == nil {
		t.Fatalf("the client gets %v", m)
	}
	if r.server.Following() != 0 || s.count("GET list") != 0 {
		t.Errorf("%d are followed, calls %v", r.server.Following(), s.calls)
	}
}

func TestWhenTheClientHasGoneItsTicketIsLookedForBeside(t *testing.T) {
	t.Parallel()
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) { r.rule.HealWithin = time.Second })
	p := r.proxy()
	p.create(createBody, bot...)
	s.make(r.record(createBody).Token)
	p.gone()
	r.eventually(createBody, dedup.Open)
	if s.size() != 1 || s.count("POST list") != 0 {
		t.Errorf("calls %v", s.calls)
	}
}

func TestWhatSurelyMadeNoTicketIsSentAgain(t *testing.T) {
	t.Parallel()
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) {
		r.rule.HealWithin, r.rule.Resend = time.Millisecond, 4
	})
	p := r.proxy()
	p.create(createBody, append([]string{"content-length", "49", "x-note", "kept"}, bot...)...)
	p.gone()
	r.eventually(createBody, dedup.Open)
	if s.size() != 1 || s.count("POST list") != 1 || !strings.Contains(s.bodies[0], `"correlation_id":"idem:`) {
		t.Errorf("calls %v, bodies %v", s.calls, s.bodies)
	}
	if r.count.of("resent", "faults", "created") != 1 {
		t.Errorf("counted %v", r.count.n)
	}
}

func TestWhatNobodyCanLookUpIsNotSentAgainBlindly(t *testing.T) {
	t.Parallel()
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) {
		r.rule.HealWithin, r.rule.Resend = time.Millisecond, 1
	})
	s.denied["Basic Ym90OnMzY3JldA=="] = true
	p := r.proxy()
	p.create(createBody, bot...)
	p.gone()
	eventually(t, "the follow-up has begun", func() bool { return s.count("GET list") > 0 })
	eventually(t, "the follow-up has ended", func() bool { return r.server.Following() == 0 })
	if s.count("POST list") != 0 {
		t.Errorf("calls %v", s.calls)
	}
}

func TestARefusalForNowIsSentAgain(t *testing.T) {
	t.Parallel()
	letters := &letterBox{}
	r, s := newDeskRig(t, func(r *rig, o *extproc.Options, _ *dedup.Policy) {
		r.rule.Resend = 4
		o.Letters = letters
	})
	s.script["POST list"] = []int{503} // once more
	s.after = "0"
	p := r.proxy()
	p.create(createBody, bot...)
	head, rest := p.answer("503", `{"error":"busy"}`, "retry-after", "0")
	if head.GetImmediateResponse() != nil || rest.GetImmediateResponse() != nil {
		t.Fatal("the client is not told the truth")
	}
	letters.has(t, "put refused 503 1")
	rec := r.eventually(createBody, dedup.Open)
	if rec.Ticket.ID != "0001" || s.count("GET list") != 0 || s.count("POST list") != 2 {
		t.Errorf("ticket %q, calls %v", rec.Ticket.ID, s.calls)
	}
	letters.eventually(t, "removed 1")
	p.gone()
	if m := r.proxy().decided(createBody, bot...); !isReplay(m) {
		t.Errorf("a re-fire gets %v", m)
	}
}

func TestAFinalRefusalIsFinal(t *testing.T) {
	letters := &letterBox{}
	r, s := newDeskRig(t, func(r *rig, o *extproc.Options, _ *dedup.Policy) {
		r.rule.Resend = 4
		o.Letters = letters
	})
	p := r.proxy()
	p.create(createBody, bot...)
	p.answer("400", `{"error":"mandatory field"}`)
	if r.server.Following() != 0 || s.count("POST list") != 0 || len(letters.all()) != 0 {
		t.Errorf("%d are followed, calls %v, letters %v", r.server.Following(), s.calls, letters.all())
	}
}

func TestWhatTheBackendHasAlreadyIsLookedUpAtOnce(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]bool{"it has": true, "it only says so": false} {
		t.Run(name, func(t *testing.T) {
			r, s := newDeskRig(t, nil) // without healing
			p := r.proxy()
			p.create(createBody, bot...)
			if there {
				s.make(r.record(createBody).Token)
			}
			p.ask(responseHeaders("409", false))
			p.send(responseBody(`{"error":"exists"}`))
			m := p.last()
			if got := m.GetImmediateResponse() != nil; got != there {
				t.Errorf("the client gets %v", m)
			}
			if s.count("GET list") == 0 || s.count("POST list") != 0 {
				t.Errorf("calls %v", s.calls)
			}
		})
	}
}

func TestTheEndOfTheProcessEndsWhatGoesOnBeside(t *testing.T) {
	r, _ := newDeskRig(t, func(r *rig, _ *extproc.Options, p *dedup.Policy) {
		r.rule.HealWithin, p.Settle = time.Millisecond, time.Hour
	})
	p := r.proxy()
	p.create(createBody, bot...)
	p.gone()
	eventually(t, "it is followed", func() bool { return r.server.Following() == 1 })
	r.server.Drain(t.Context())
	if r.server.Following() != 0 {
		t.Error("the request and its credentials are held still")
	}
}

// A clear or an update that nobody can express is not tried for ever.
func TestAnUpdateOfNothingIsAnsweredFromTheRecord(t *testing.T) {
	r, s := newDeskRig(t, func(r *rig, _ *extproc.Options, _ *dedup.Policy) {
		r.rule.Asks.Update = nil
	})
	r.first()
	s.make("")
	m := r.proxy().decided(strings.Replace(createBody, `"2"`, `"3"`, 1), bot...)
	if m.GetImmediateResponse().GetStatus().GetCode() != 201 || r.count.of("update failed", "faults") != 1 {
		t.Errorf("the client gets %v; counted %v", m, r.count.n)
	}
}
