package extproc_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

// remembering is a rule for several creates at a backend that remembers tokens,
// whose tickets can be read and looked up.
func remembering(r *rig, o *extproc.Options, p *dedup.Policy) {
	manyAtOnce(r, o)
	judged := r.rule.Judge
	r.rule.Judge = func(q *dedup.Request, a *dedup.Answer) dedup.Judgement {
		says := judged(q, a)
		if a.Item != nil && a.Item.Member("again").Literal != "" {
			says.Says = dedup.SaysRemembered
		}
		return says
	}
	r.rule.HealWithin = 10 * time.Second
	p.Memory, p.MemoryFor = dedup.Remembers, 2*time.Hour
}

func TestASuccessThatIsNotTrueIsNotToldBecauseTheCreateBesideItWasHealed(t *testing.T) {
	r, s := newDeskRig(t, remembering)
	s.close(s.make("closed last week"))
	p := r.proxy()
	if m := p.create(disks(disk(1), disk(2)), bot...); m.GetRequestBody() == nil {
		t.Fatalf("it was answered with %v", m)
	}
	s.make(r.record(disk(2)).Token)
	_, m := p.answer("201", results(`{"sys_id":"0001","again":"yes"}`, `{"why":"cut"}`), "content-type", "application/json")
	if status := m.GetImmediateResponse().GetStatus().GetCode(); status != 503 {
		t.Errorf("the client is told %d %s: its first ticket was closed last week", status, m.GetImmediateResponse().GetBody())
	}
	r.eventually(disk(2), dedup.Open)
}
