package extproc_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"oneticket/dedup"
	"oneticket/extproc"
)

// manyAtOnce is a rule for requests that hold several creates.
func manyAtOnce(r *rig, _ *extproc.Options) {
	r.rule.Each = &extproc.Each{
		List: []string{"records"}, Answer: []string{"results"},
		Failed: []string{"errors"}, Number: []string{"n"}, Wrapper: []byte(`{"results":[],"errors":[]}`),
	}
	r.rule.Fault = func(q *dedup.Request) (dedup.Fault, error) {
		one := *q
		if q.Each != nil {
			one.Body = *q.Each
		}
		return faultOf(&one)
	}
	r.rule.Judge = func(q *dedup.Request, a *dedup.Answer) dedup.Judgement {
		if q.Each == nil {
			return judge(q, a)
		}
		switch id := a.Item.Member("sys_id").Literal; {
		case a.Status == 201 && id != "":
			return dedup.Judgement{Says: dedup.SaysCreated, Ticket: dedup.Ticket{ID: id}}
		default:
			return dedup.Judgement{Says: dedup.SaysUnclear}
		}
	}
}

// disk is one of the creates; with is what it carries beside.
func disk(n int, with ...string) string {
	return fmt.Sprintf(`{ "cmdb_ci":"db-%d", "u_check":"disk"%s}`, n, strings.Join(with, ""))
}

func disks(all ...string) string { return `{"v": 1.0,"records":[` + strings.Join(all, ",") + `] }` }

func results(all ...string) string { return `{"results":[` + strings.Join(all, ",") + `],"errors":[]}` }

func ticket(n int) string { return fmt.Sprintf(`{"sys_id":"%04d" }`, n) }

// sentOnWith is what of the body goes on: the body itself where it is not
// changed, without tokens.
func sentOnWith(m *extprocv3.ProcessingResponse, body string) string {
	if m.GetRequestBody() == nil {
		return ""
	}
	if with := m.GetRequestBody().GetResponse().GetBodyMutation(); with != nil {
		body = string(with.GetBody())
	}
	for {
		from := strings.Index(body, `,"correlation_id":"`)
		if from < 0 {
			return body
		}
		rest := body[from+len(`,"correlation_id":"`):]
		body = body[:from] + rest[strings.IndexByte(rest, '"')+1:]
	}
}

// made sends a bulk that is all new, and has it answered.
func (r *rig) made(body, answer string) {
	r.t.Helper()
	p := r.proxy()
	if m := p.create(body, bearer...); sentOnWith(m, body) != body {
		r.t.Fatalf("it was answered with %v", m)
	}
	if _, rest := p.answer("201", answer, "content-type", "application/json"); rest.GetResponseBody() == nil {
		r.t.Fatalf("its answer was replaced with %v", rest)
	}
}

func TestOnlyTheNewCreatesOfABulkAreSent(t *testing.T) {
	for name, c := range map[string]struct {
		body, sent     string // nothing is sent: it is answered at once
		status, answer string // of the backend
		want           string // empty: the backend's own answer
	}{
		"all are known":         {body: disks(disk(2), disk(1)), want: results(ticket(2), ticket(1))},
		"one is new":            {body: disks(disk(3), disk(2)), sent: disks(disk(3)), status: "201", answer: results(ticket(3)), want: results(ticket(3), ticket(2))},
		"one stands twice":      {body: disks(disk(3), disk(3), disk(4)), sent: disks(disk(3), disk(4)), status: "201", answer: results(ticket(3), ticket(4)), want: results(ticket(3), ticket(3), ticket(4))},
		"known, and twice":      {body: disks(disk(1), disk(1)), want: results(ticket(1), ticket(1))},
		"one has no key":        {body: disks(`{"x":1}`, disk(1)), sent: disks(`{"x":1}`), status: "201", answer: results(ticket(9)), want: results(ticket(9), ticket(1))},
		"one is refused":        {body: disks(disk(1), disk(3), disk(4)), sent: disks(disk(3), disk(4)), status: "201", answer: `{"results":[` + ticket(4) + `],"errors":[{"n":0,"why":"no"}]}`, want: `{"results":[` + ticket(1) + `,` + ticket(4) + `],"errors":[{"n":1,"why":"no"}]}`},
		"all that is new fails": {body: disks(disk(1), disk(3)), sent: disks(disk(3)), status: "400", answer: `{"error":"no"}`},
		"an answer with fewer":  {body: disks(disk(1), disk(3), disk(4)), sent: disks(disk(3), disk(4)), status: "201", answer: results(ticket(3)), want: "503"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, manyAtOnce)
			r.made(disks(disk(1), disk(2)), results(ticket(1), ticket(2)))
			p := r.proxy()
			m := p.create(c.body, bearer...)
			if got := sentOnWith(m, c.body); got != c.sent {
				t.Fatalf("sent on is %s, want %s (%v)", got, c.sent, m)
			}
			if c.sent != "" {
				_, m = p.answer(c.status, c.answer, "content-type", "application/json")
			}
			got := string(m.GetImmediateResponse().GetBody())
			if c.want == "503" {
				c.want, got = "503", fmt.Sprint(int(m.GetImmediateResponse().GetStatus().GetCode()))
			}
			if got != c.want {
				t.Errorf("the client gets %s, want %s", got, c.want)
			}
		})
	}
}

func TestWhatBecomesOfEachCreateOfABulkIsItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		status, answer string // empty: the client goes
		first, second  dedup.State
	}{
		"both":         {"201", results(ticket(1), ticket(2)), dedup.Open, dedup.Open},
		"the first":    {"201", `{"results":[` + ticket(1) + `],"errors":[{"n":1}]}`, dedup.Open, dedup.None},
		"the second":   {"201", `{"results":[` + ticket(2) + `],"errors":[{"n":0}]}`, dedup.None, dedup.Open},
		"nobody knows": {"201", results(ticket(1)), dedup.Doubtful, dedup.Doubtful},
		"refused":      {"400", `{}`, dedup.None, dedup.None},
		"500":          {"500", `{}`, dedup.Doubtful, dedup.Doubtful},
		"gone":         {"", "", dedup.Doubtful, dedup.Doubtful},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, manyAtOnce)
			judged := r.rule.Judge
			r.rule.Judge = func(q *dedup.Request, a *dedup.Answer) dedup.Judgement {
				if a.Status == 400 {
					return dedup.Judgement{Says: dedup.SaysRefused}
				}
				return judged(q, a)
			}
			p := r.proxy()
			p.create(disks(disk(2), disk(1)), bearer...)
			if c.status == "" {
				p.gone()
			} else {
				p.answer(c.status, c.answer, "content-type", "application/json")
			}
			r.eventually(disk(2), c.first)
			r.eventually(disk(1), c.second)
		})
	}
}

func TestTwoBulksThatWantTheSameDoNotWaitForEachOther(t *testing.T) {
	r := newRig(t, manyAtOnce)
	p, q := r.proxy(), r.proxy()
	p.create(disks(disk(1), disk(2)), bearer...)
	m := q.create(disks(disk(3), disk(2)), bearer...)
	if got, want := sentOnWith(m, ""), disks(disk(3)); got != want {
		t.Fatalf("sent on is %s, want %s", got, want)
	}
	q.ask(responseHeaders("201", false, "content-type", "application/json"))
	q.send(responseBody(results(ticket(3))))
	r.eventually(disk(3), dedup.Open)
	p.answer("201", results(ticket(1), ticket(2)), "content-type", "application/json")
	if got, want := string(q.last().GetImmediateResponse().GetBody()), results(ticket(3), ticket(2)); got != want {
		t.Errorf("the second gets %s, want %s", got, want)
	}
}

func TestABulkWaitsForTheFirstOfItsDuplicates(t *testing.T) {
	r := newRig(t, manyAtOnce)
	p, q := r.proxy(), r.proxy()
	p.create(disks(disk(1), disk(2)), bearer...)
	q.ask(requestHeaders())
	q.send(requestBody(disks(disk(2), disk(1))))
	eventually(t, "the second waits", func() bool { return r.server.Waiting() == 1 })
	p.answer("201", results(ticket(1), ticket(2)), "content-type", "application/json")
	if got, want := string(q.last().GetImmediateResponse().GetBody()), results(ticket(2), ticket(1)); got != want {
		t.Errorf("it gets %s, want %s", got, want)
	}
}

func TestABulkWhoseFirstIsStillAtItComesAgain(t *testing.T) {
	r := newRig(t, func(r *rig, o *extproc.Options) {
		manyAtOnce(r, o)
		r.rule.Wait = 10 * time.Millisecond
	})
	r.proxy().create(disks(disk(1)), bearer...)
	if m := r.proxy().decided(disks(disk(1)), bearer...); m.GetImmediateResponse().GetStatus().GetCode() != 503 {
		t.Errorf("it gets %v", m)
	}
	p := r.proxy() // its own create is made, and the answer names one that is not
	p.create(disks(disk(2), disk(1)), bearer...)
	p.ask(responseHeaders("201", false, "content-type", "application/json"))
	p.send(responseBody(results(ticket(2))))
	if m := p.last(); m.GetImmediateResponse().GetStatus().GetCode() != 503 {
		t.Errorf("it gets %v", m)
	}
	r.eventually(disk(2), dedup.Open)
}

func TestABulkAndASingleCreateShareTheRecord(t *testing.T) {
	r := newRig(t, manyAtOnce)
	r.made(disks(disk(1)), results(ticket(1)))
	m := r.proxy().create(disk(1), bearer...)
	if got := string(m.GetImmediateResponse().GetBody()); got != ticket(1) {
		t.Errorf("the single create gets %s", got)
	}
	p := r.proxy()
	p.create(disk(2), bearer...)
	p.answer("201", `{"result":{"sys_id":"0002"}}`, "content-type", "application/json")
	m = r.proxy().create(disks(disk(2), disk(1)), bearer...)
	if got, want := string(m.GetImmediateResponse().GetBody()), results(`{"result":{"sys_id":"0002"}}`, ticket(1)); got != want {
		t.Errorf("the bulk gets %s, want %s", got, want)
	}
}

func TestABulkOfAnotherSenderIsNotAnsweredFromTheStore(t *testing.T) {
	r := newRig(t, manyAtOnce)
	r.made(disks(disk(1)), results(ticket(1)))
	p := r.proxy()
	body := disks(disk(1), disk(2))
	if got := sentOnWith(p.create(body, anna...), body); got != body {
		t.Fatalf("sent on is %s", got)
	}
	p.answer("201", results(ticket(1), ticket(2)), "content-type", "application/json")
	if m := r.proxy().create(body, anna...); !isReplay(m) {
		t.Errorf("the backend has shown it, and she gets %v", m)
	}
}

func TestABulkThatCannotBeTakenApartIsSentOnWhole(t *testing.T) {
	var many []string
	for n := range 201 {
		many = append(many, disk(n))
	}
	for name, c := range map[string]struct {
		body   string
		header []string
		change func(*extproc.Each)
	}{
		"too many":                     {body: disks(many...)},
		"signed":                       {body: disks(disk(1)), header: []string{"digest", "sha-256=x"}},
		"the answer's list is nowhere": {body: disks(disk(1)), change: func(e *extproc.Each) { e.Answer = nil }},
		"empty":                        {body: disks()},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig, o *extproc.Options) {
				manyAtOnce(r, o)
				if c.change != nil {
					c.change(r.rule.Each)
				}
			})
			m := r.proxy().create(c.body, append(c.header, bearer...)...)
			if m.GetRequestBody() == nil || m.GetRequestBody().GetResponse().GetBodyMutation() != nil || r.count.of("unkeyed", "faults", "bulk") != 1 {
				t.Errorf("answered with %v, counted %v", m, r.count.n)
			}
		})
	}
}

func TestABulkThatIsOnlyObservedIsSentAsItCame(t *testing.T) {
	r := newRig(t, func(r *rig, o *extproc.Options) {
		manyAtOnce(r, o)
		r.rule.Action = extproc.Observe
	})
	for _, want := range []string{"create first", "suppress refire"} {
		p := r.proxy()
		m := p.create(disks(disk(1), disk(1)), bearer...)
		if m.GetRequestBody() == nil || m.GetRequestBody().GetResponse().GetBodyMutation() != nil {
			t.Fatalf("answered with %v", m)
		}
		if got := metadata(m, "decision") + " " + metadata(m, "reason"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if _, rest := p.answer("201", results(ticket(1), ticket(2)), "content-type", "application/json"); rest.GetResponseBody() == nil {
			t.Errorf("its answer was replaced with %v", rest)
		}
		r.eventually(disk(1), dedup.Open)
	}
}

func TestTheAccessLogSaysOfABulkThatNothingWasSent(t *testing.T) {
	for name, late := range map[string]bool{"before the stream ends": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig, o *extproc.Options) {
				manyAtOnce(r, o)
				if o.LastWord = time.Minute; late {
					o.LastWord = time.Millisecond
				}
			})
			log := r.logs()
			p := r.proxy()
			e := logEntry(metadata(p.create(disks(disk(1), disk(2)), bearer...), "exchange"), 0)
			if late {
				p.gone()
				r.eventually(disk(1), dedup.Doubtful)
				r.eventually(disk(2), dedup.Doubtful)
			}
			log.log(e)
			p.gone()
			r.eventually(disk(1), dedup.None)
			r.eventually(disk(2), dedup.None)
			if n := r.server.Followed(); n != 0 {
				t.Errorf("%d exchanges are followed still", n)
			}
		})
	}
}

// TestABulkWithMuchAroundItsListIsSentOnWhole: taken apart, each of its creates
// would have all of that, and 200 of them a gigabyte.
func TestABulkWithMuchAroundItsListIsSentOnWhole(t *testing.T) {
	r := newRig(t, manyAtOnce)
	r.rule.MaxBody = 4 << 20
	var all []string
	for i := range 200 {
		all = append(all, disk(i))
	}
	pad := strings.Repeat("x", 3<<20)
	body := strings.Replace(disks(all...), `"v": 1.0`, `"v":"`+pad+`"`, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if m := r.proxy().create(body, bearer...); sentOnWith(m, body) != body {
		t.Error("it is not sent on as it came")
	}
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 200<<20 {
		t.Errorf("it took %d MB", grew>>20)
	}
	if n := r.count.of("unkeyed", "faults", "bulk"); n != 1 {
		t.Errorf("counted %v", r.count.n)
	}
	if m := r.proxy().create(disks(all...), bearer...); sentOnWith(m, disks(all...)) != disks(all...) || r.count.of("decision", "faults", "create", "first") != 200 {
		t.Errorf("without it, counted %v", r.count.n)
	}
}
