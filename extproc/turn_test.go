package extproc_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

// slowly lets the backend be asked so seldom that hardly anybody has a turn.
func slowly(t *testing.T, r *rig, o *extproc.Options, s func() string) {
	calls := extproc.NewCaller(nil)
	t.Cleanup(calls.Close)
	calls.Use([]extproc.Outlet{{Backend: "snow", Via: s(), Rate: 1, Per: time.Minute, Timeout: 300 * time.Millisecond}})
	o.Calls = calls
	r.rule.Timeout = 300 * time.Millisecond
}

// TestAStormOfDoubtfulCreatesBehindASlowPaceMakesNoDoubles: the tickets are
// there, and only our own pace keeps us from finding them.
func TestAStormOfDoubtfulCreatesBehindASlowPaceMakesNoDoubles(t *testing.T) {
	t.Parallel()
	web := ""
	r, s := newDeskRigAt(t, &web, func(r *rig, o *extproc.Options, p *dedup.Policy) {
		p.Settle = time.Millisecond
		slowly(t, r, o, func() string { return web })
	})
	body := func(i int) string { return strings.Replace(createBody, "db-07", fmt.Sprint("db-", i), 1) }
	const faults = 40
	var lost sync.WaitGroup
	for i := range faults {
		lost.Go(func() {
			p := r.proxy()
			p.create(body(i), bot...)
			s.make(r.record(body(i)).Token)
			p.loses(body(i))
			p.gone()
		})
	}
	lost.Wait()
	var all sync.WaitGroup
	for i := range faults {
		all.Go(func() {
			m := r.proxy().decided(body(i), bot...)
			if a := m.GetImmediateResponse(); a == nil {
				t.Errorf("%d is sent on: %v", i, m)
			} else if code := a.GetStatus().GetCode(); code != 503 && decisionOf(m) != "suppress; reason=recovered" {
				t.Errorf("%d gets %v", i, m)
			} else if code == 503 && header(a.GetHeaders(), "retry-after") == "" {
				t.Errorf("%d is not told when to come again", i)
			}
		})
	}
	all.Wait()
	if s.size() != faults {
		t.Errorf("%d tickets for %d faults", s.size(), faults)
	}
}

// TestAStrangerForWhomThereIsNoTurnIsNoSecondTicket.
func TestAStrangerForWhomThereIsNoTurnIsNoSecondTicket(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(*system){
		"our own pace": func(s *system) {},
		"429":          func(s *system) { s.script["GET one"] = []int{http.StatusTooManyRequests} },
	} {
		t.Run(name, func(t *testing.T) {
			web := ""
			r, s := newDeskRigAt(t, &web, func(r *rig, o *extproc.Options, _ *dedup.Policy) {
				if name == "our own pace" {
					slowly(t, r, o, func() string { return web })
				}
			})
			r.first()
			s.make("")
			after(s)
			if name == "our own pace" {
				r.proxy().decided(createBody, basic("eva", "her own")...) // takes the one turn
			}
			m := r.proxy().decided(createBody, anna...)
			if a := m.GetImmediateResponse(); a.GetStatus().GetCode() != 503 || header(a.GetHeaders(), "retry-after") == "" {
				t.Errorf("she gets %v", m)
			}
		})
	}
}

// TestADoubtfulCreateIsNotSentAgainBeforeAnybodyCanBeAsked: a proxy takes
// requests before the process knows the ways to the backends, and the way may
// be gone for a moment.
func TestADoubtfulCreateIsNotSentAgainBeforeAnybodyCanBeAsked(t *testing.T) {
	t.Parallel()
	for name, via := range map[string]string{"no way yet": "", "the way is gone": "http://" + nobody()} {
		t.Run(name, func(t *testing.T) {
			web := ""
			calls := extproc.NewCaller(nil)
			t.Cleanup(calls.Close)
			r, s := newDeskRigAt(t, &web, func(_ *rig, o *extproc.Options, p *dedup.Policy) {
				p.Settle = time.Millisecond
				o.Calls = calls
				if via != "" {
					calls.Use([]extproc.Outlet{{Backend: "snow", Via: via}})
				}
			})
			p := r.proxy()
			p.create(createBody, bot...)
			s.make(r.record(createBody).Token)
			p.loses(createBody)
			p.gone()
			r.eventually(createBody, dedup.Doubtful)
			time.Sleep(5 * time.Millisecond) // settle is over
			if m := r.proxy().decided(createBody, bot...); m.GetImmediateResponse().GetStatus().GetCode() != 503 {
				t.Fatalf("he gets %v", m)
			}
			calls.Use([]extproc.Outlet{{Backend: "snow", Via: web}})
			if m := r.proxy().decided(createBody, bot...); decisionOf(m) != "suppress; reason=recovered" {
				t.Errorf("then he gets %v", m)
			}
		})
	}
}
