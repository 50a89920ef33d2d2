package extproc_test

import (
	"slices"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

// replays sends a dead letter of the episode, with the mark of the process.
func (r *rig) replays(p *proxy, mark dedup.HeaderField, episode string) (head, body bool, status int) {
	r.t.Helper()
	m := p.ask(requestHeaders(append([]string{mark.Name, mark.Value, "oneticket-replay", episode + ";00000001"}, bot...)...))
	removed := m.GetRequestHeaders().GetResponse().GetHeaderMutation().GetRemoveHeaders()
	head = slices.Contains(removed, mark.Name) && slices.Contains(removed, "oneticket-replay")
	if m.GetImmediateResponse() != nil {
		return head, false, int(m.GetImmediateResponse().GetStatus().GetCode())
	}
	p.send(requestBody(createBody))
	m = p.last()
	return head, m.GetRequestBody() != nil, int(m.GetImmediateResponse().GetStatus().GetCode())
}

func TestADeadLetterGoesOutAsTheCreateOfItsEpisodeOrNotAtAll(t *testing.T) {
	for name, c := range map[string]struct {
		before  func(*rig)
		episode string
		alive   bool
		off     bool
		status  int // of the refusal; 0 = it goes out
	}{
		"its episode":              {episode: "1", alive: true},
		"a later episode":          {episode: "2", alive: true, status: 409},
		"a letter of another key":  {episode: "1", status: 409},
		"the episode has a ticket": {episode: "1", alive: true, before: (*rig).first, status: 409},
		"no number":                {episode: "x", alive: true, status: 409},
		"the rule is off":          {episode: "1", alive: true, off: true, status: 409},
		"somebody is creating": {episode: "1", alive: true, status: 503, before: func(r *rig) {
			r.proxy().create(createBody, anna...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			calls := extproc.NewCaller(nil)
			t.Cleanup(calls.Close)
			r := newRig(t, func(r *rig, o *extproc.Options) {
				byUser(r, o)
				r.rule.Wait = 10 * time.Millisecond
				o.Calls, o.Letters = calls, &letterBox{alive: c.alive}
			})
			if c.before != nil {
				c.before(r)
			}
			if c.off {
				r.turn(extproc.Off)
			}
			stripped, out, status := r.replays(r.proxy(), calls.Mark(), c.episode)
			if status != c.status || out != (c.status == 0) || !stripped && !c.off {
				t.Errorf("status %d, sent on %v, marks taken off %v", status, out, stripped)
			}
			if c.episode == "2" && r.record(createBody).State != dedup.None {
				t.Errorf("the claim is left: %v", r.record(createBody).State)
			}
		})
	}
}

func TestAReplayWithoutTheMarkIsARequestAsAny(t *testing.T) {
	r := newRig(t, func(_ *rig, o *extproc.Options) { o.Calls = extproc.NewCaller(nil) })
	m := r.proxy().create(createBody, append([]string{"oneticket-replay", "7;00000001", "oneticket-call", "guessed"}, bot...)...)
	if metadata(m, "decision") != "create" {
		t.Errorf("got %v", m)
	}
}

// TestALetterHoldsWhatIsNeededToSendItAgain: what must not be kept is taken out
// by whoever keeps it.
func TestALetterHoldsWhatIsNeededToSendItAgain(t *testing.T) {
	letters := &letterBox{}
	r, _ := newDeskRig(t, func(_ *rig, o *extproc.Options, _ *dedup.Policy) { o.Letters = letters })
	p := r.proxy()
	p.create(createBody, bot...)
	p.loses(createBody)
	l := letters.last
	if l.Backend != "snow" || l.Method != "POST" || l.Path != "/api/now/table/incident?x=1" || string(l.Body) != createBody ||
		l.Ref.Key == "" || l.Token != r.record(createBody).Token || len(l.Header) != 2 {
		t.Errorf("%+v", l)
	}
}
