package deadletter_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
)

func TestReplay(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []int // the first is to the automation
		between func(*filter)
		became  deadletter.Became
		ticket  string
		detail  string // a part of it
		tries   int
		took    time.Duration
		seen    int // creates that reached the desk, the automation's included
		tickets int
	}{
		{"never sent, and the backend is back", []int{0}, nil, deadletter.Ticket, "INC1", "", 1, 0, 1, 1},
		{"refused for now, and still busy twice", []int{429, 429, 429}, nil, deadletter.Ticket, "INC1", "", 3, 1500 * time.Millisecond, 4, 1},
		{"four tries and no ticket: it stays", []int{429, 429, 429, 429, 429}, nil, deadletter.Stays, "", "answered 429", 4, 3500 * time.Millisecond, 5, 0},
		{"the backend is down: it stays", []int{0, 0, 0, 0, 0}, nil, deadletter.Stays, "", "answered 503", 4, 3500 * time.Millisecond, 0, 0},
		{"unknown: sent again only when it has surely settled", []int{504}, nil, deadletter.Ticket, "INC1", "", 2, 5 * time.Second, 2, 1},
		{"the same fault became a ticket meanwhile", []int{0}, func(f *filter) { f.post() }, deadletter.Dropped, "INC1", "", 0, 0, 1, 1},
		{"and even a later one", []int{0}, func(f *filter) { f.post(); time.Sleep(2 * time.Hour); f.post() }, deadletter.Dropped, "", "", 0, 0, 2, 2},
		{"the memory of the attempt is over", []int{504}, func(*filter) { time.Sleep(48 * time.Hour) }, deadletter.Stays, "", "look for one", 0, 0, 1, 0},
		{"the memory is over, but it was never sent", []int{0}, func(*filter) { time.Sleep(48 * time.Hour) }, deadletter.Ticket, "INC1", "", 1, 0, 1, 1},
		{"released by hand", []int{504}, func(f *filter) { _ = f.store.Delete(context.Background(), refOf([]byte(clientBody))) }, deadletter.Stays, "", "look for one", 0, 0, 1, 0},
		{"the filter lets it pass", []int{0, 500, 500}, func(f *filter) { f.asleep = true }, deadletter.Stays, "", "not through the filter", 1, 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFilter(t)
				defer f.box.Close()
				f.desk.answers = c.answers
				f.post()
				if n := f.box.Count(); n != 1 {
					t.Fatalf("%d letters", n)
				}
				if c.between != nil {
					c.between(f)
				}
				result, err := f.replayer().Replay(t.Context(), "1")
				f.engine.Close()
				if err != nil {
					t.Fatal(err)
				}
				if result.Became != c.became || result.Ticket != c.ticket || result.Tries != c.tries || result.Elapsed != c.took || !strings.Contains(result.Detail, c.detail) {
					t.Errorf("%+v", result)
				}
				if len(f.desk.seen) != c.seen || f.desk.tickets != c.tickets {
					t.Errorf("the desk saw %d creates and has %d tickets", len(f.desk.seen), f.desk.tickets)
				}
				if stays := f.box.Count() == 1; stays != (c.became == deadletter.Stays) {
					t.Errorf("the letter is there: %v", stays)
				}
				if c.became == deadletter.Stays {
					if l := get(t, f.box, "1"); l.Replays != c.tries || !strings.Contains(l.LastError, c.detail) {
						t.Errorf("the letter says %+v", l)
					}
				}
			})
		})
	}
}

// TestAReplayIsTheRequestWithOurCredentials, over the network.
func TestAReplayIsTheRequestWithOurCredentials(t *testing.T) {
	f := newFilter(t)
	server := httptest.NewServer(f)
	defer server.Close()
	f.desk.answers = []int{429}
	f.post()
	r := f.replayer()
	r.Sender = &deadletter.HTTPSender{
		Listener:    func(string) (string, error) { return server.URL, nil },
		Credentials: f.sender().Credentials,
		Marks:       f.sender().Marks,
	}
	result, err := r.Replay(t.Context(), "1")
	if err != nil || result.Became != deadletter.Ticket {
		t.Fatalf("%+v, %v", result, err)
	}
	sent := f.desk.seen[1]
	if got := sent.URL.RequestURI(); got != "/api/incident" {
		t.Errorf("path %s", got)
	}
	if got := f.desk.bodies[1]; got != `{"cmdb_ci":"core-7","routing_key":"our \"key\""}` {
		t.Errorf("body %s", got)
	}
	for name, want := range map[string]string{"Authorization": "Basic ours", "Content-Type": "application/json", "User-Agent": "nagios/4", "Accept-Encoding": "", "Oneticket-Replay": ""} {
		if got := sent.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestALetterWithoutItsCredentialsIsNotSent(t *testing.T) {
	for _, c := range []struct {
		name, want string
		given      map[string]string
	}{
		{"none at all", `give credentials to backend "servicenow"`, nil},
		{"none for the body", `"body.routing_key" = env(...)`, map[string]string{"authorization": "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFilter(t)
			f.desk.answers = []int{0}
			f.post()
			r, s := f.replayer(), f.sender()
			s.Credentials = func(string) map[string]string { return c.given }
			r.Sender = s
			result, err := r.Replay(t.Context(), "1")
			if err != nil || result.Became != deadletter.Stays || result.Tries != 0 || !strings.Contains(result.Detail, c.want) {
				t.Errorf("%+v, %v", result, err)
			}
			if s.Ready(get(t, f.box, "1")) {
				t.Error("it is said to be ready")
			}
		})
	}
}

// TestTwoReplaysAndAClientAtOnceMakeOneTicket: all go through the claim.
func TestTwoReplaysAndAClientAtOnceMakeOneTicket(t *testing.T) {
	for range 20 {
		f := newFilter(t)
		f.desk.answers = []int{0}
		f.post()
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				_, err := f.replayer().Replay(t.Context(), "1")
				if err != nil && !errors.Is(err, deadletter.ErrNotFound) {
					t.Error(err)
				}
			})
		}
		all.Go(func() { f.post() })
		all.Wait()
		f.engine.Close()
		if err := f.replayer().Tidy(t.Context()); err != nil {
			t.Error(err)
		}
		if f.desk.tickets != 1 || f.box.Count() != 0 {
			t.Fatalf("%d tickets, %d letters", f.desk.tickets, f.box.Count())
		}
	}
}

func TestAutoReplaysWhatItHasCredentialsForFourTimesAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFilter(t)
		defer f.box.Close()
		for range 10 {
			f.desk.answers = append(f.desk.answers, 429)
		}
		f.post()
		put(t, f.box, letter(9)) // of a backend for which there are none
		ctx, cancel := context.WithCancel(t.Context())
		var auto sync.WaitGroup
		auto.Go(func() {
			f.replayer().Auto(ctx, 10*time.Second, 30*time.Second, func() bool { return true }, func(l deadletter.Letter) bool { return l.Ref.Scope == "desk" })
		})
		time.Sleep(time.Hour)
		if l := get(t, f.box, "1"); l.Replays != 4 || len(f.desk.seen) != 5 {
			t.Errorf("%d replays, %d creates", l.Replays, len(f.desk.seen))
		}
		if l := get(t, f.box, "2"); l.Replays != 0 {
			t.Errorf("%+v", l)
		}
		f.desk.answers = nil
		f.post() // another replica would do as well
		time.Sleep(time.Minute)
		if got := keys(t, f.box); len(got) != 1 || got[0] != keyOf(9) {
			t.Errorf("%v are left", got)
		}
		cancel()
		auto.Wait()
		f.engine.Close()
	})
}

func TestStandingOf(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later, earlier := now.Add(time.Minute), now.Add(-time.Minute)
	for _, c := range []struct {
		name  string
		rec   dedup.Record
		doubt bool
		want  deadletter.Standing
	}{
		{"taken back", dedup.Record{State: dedup.None, Episode: 2}, false, deadletter.Alive},
		{"taken back, over a closed one", dedup.Record{State: dedup.Closed, Episode: 2, FreeAt: earlier}, false, deadletter.Alive},
		{"taken back, over one that is open", dedup.Record{State: dedup.Open, Episode: 2, FreeAt: later}, false, deadletter.Unclear},
		{"taken back, over one that has expired", dedup.Record{State: dedup.Open, Episode: 2, FreeAt: earlier}, false, deadletter.Alive},
		{"in doubt, and the record has forgotten it", dedup.Record{State: dedup.None, Episode: 2}, true, deadletter.Unclear},
		{"doubtful", dedup.Record{State: dedup.Doubtful, Episode: 3, FreeAt: later}, true, deadletter.Alive},
		{"doubtful, memory over", dedup.Record{State: dedup.Doubtful, Episode: 3, FreeAt: earlier}, true, deadletter.Unclear},
		{"claimed", dedup.Record{State: dedup.Claimed, Episode: 3, LeaseUntil: later, FreeAt: later}, false, deadletter.Running},
		{"claimed, lease over", dedup.Record{State: dedup.Claimed, Episode: 3, LeaseUntil: earlier, FreeAt: later}, true, deadletter.Alive},
		{"a later one claimed", dedup.Record{State: dedup.Claimed, Episode: 4, LeaseUntil: later}, false, deadletter.Running},
		{"open", dedup.Record{State: dedup.Open, Episode: 3, FreeAt: later}, true, deadletter.Over},
		{"open and expired", dedup.Record{State: dedup.Open, Episode: 3, FreeAt: earlier}, true, deadletter.Over},
		{"closed", dedup.Record{State: dedup.Closed, Episode: 3}, true, deadletter.Over},
		{"closed in doubt", dedup.Record{State: dedup.Closed, Episode: 3, InDoubt: true}, true, deadletter.Unclear},
		{"released", dedup.Record{State: dedup.None, Episode: 3}, false, deadletter.Unclear},
		{"a later one", dedup.Record{State: dedup.Open, Episode: 4, FreeAt: later}, false, deadletter.Over},
		{"the store was lost", dedup.Record{}, false, deadletter.Unclear},
		{"a newer format", dedup.Record{V: dedup.Format + 1, State: dedup.Open, Episode: 3}, false, deadletter.Unclear},
		{"made in observe", dedup.Record{State: dedup.Open, Episode: 3, Observed: true}, false, deadletter.Unclear},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := deadletter.StandingOf(dedup.Found{Record: c.rec, Now: now}, 3, c.doubt); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheReplayMark(t *testing.T) {
	if episode, id, ok := deadletter.ParseReplayMark(deadletter.ReplayMark(deadletter.Letter{Episode: 12, ID: "00000042"})); episode != 12 || id != "00000042" || !ok {
		t.Errorf("%d %q %v", episode, id, ok)
	}
	for _, value := range []string{"", ";", "1", "x;1", "0;1", "-1;1", "1;", "1;x", "1;1;1"} {
		if _, _, ok := deadletter.ParseReplayMark(value); ok {
			t.Errorf("%q is a mark", value)
		}
	}
}

// TestTheLettersOfARunningProcess: what Box and Replayer do, over HTTP.
func TestTheLettersOfARunningProcess(t *testing.T) {
	f := newFilter(t)
	f.desk.answers = []int{0}
	f.post()
	for i := range 3 {
		put(t, f.box, letter(i))
	}
	server := httptest.NewServer(deadletter.Handler(f.box, f.replayer()))
	defer server.Close()
	c := &deadletter.Client{Address: server.Listener.Addr().String()}
	var ids []string
	if err := c.List(t.Context(), func(l deadletter.Letter) bool { ids = append(ids, l.ID); return true }); err != nil || len(ids) != 4 {
		t.Fatalf("%v, %v", ids, err)
	}
	if l, err := c.Get(t.Context(), "2"); err != nil || string(l.Body) != string(letter(0).Body) || l.Token != "idem:0" {
		t.Errorf("%+v, %v", l, err)
	}
	if result, err := c.Replay(t.Context(), "1"); err != nil || result.Became != deadletter.Ticket || result.Ticket != "INC1" || result.ID != ids[0] {
		t.Errorf("%+v, %v", result, err)
	}
	if err := c.Delete(t.Context(), ids[1]); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"show": func() error { _, err := c.Get(t.Context(), "1"); return err }(), "rm": c.Delete(t.Context(), "nonsense"),
		"replay": func() error { _, err := c.Replay(t.Context(), "1"); return err }(),
	} {
		if !errors.Is(err, deadletter.ErrNotFound) {
			t.Errorf("%s of what is not there: %v", name, err)
		}
	}
	var results []deadletter.Result
	if err := c.ReplayAll(t.Context(), func(r deadletter.Result) bool { results = append(results, r); return true }); err != nil || len(results) != 2 || results[0].Became != deadletter.Stays {
		t.Errorf("%+v, %v", results, err)
	}
	if n, err := c.DeleteAll(t.Context()); n != 2 || err != nil || f.box.Count() != 0 {
		t.Errorf("%d removed, %v", n, err)
	}

	r, _ := http.NewRequest(http.MethodDelete, server.URL+"/v1/deadletters", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if response, err := http.DefaultClient.Do(r); err != nil || response.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %v, %v", response, err)
	}
}

// allOpen has a ticket for every key, made by another replica.
type allOpen struct{ asked int }

func (a *allOpen) Get(_ context.Context, _ dedup.Ref) (dedup.Found, error) {
	a.asked++
	return dedup.Found{Record: dedup.Record{State: dedup.Open, Episode: letter(0).Episode, FreeAt: time.Now().Add(time.Hour)}, Now: time.Now()}, nil
}

// TestManyLettersAreTidiedAThousandAtATime, also where nothing is replayed
// unasked.
func TestManyLettersAreTidiedAThousandAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := open(t, deadletter.Options{})
		defer box.Close()
		for i := range 2200 {
			put(t, box, letter(i))
		}
		records := &allOpen{}
		ctx, cancel := context.WithCancel(t.Context())
		var auto sync.WaitGroup
		auto.Go(func() {
			r := &deadletter.Replayer{Box: box, Records: records}
			r.Auto(ctx, 10*time.Second, time.Minute, func() bool { return false }, nil)
		})
		for _, left := range []int64{1200, 200, 0} {
			time.Sleep(10*time.Second + time.Millisecond)
			synctest.Wait()
			if n := box.Count(); n != left {
				t.Errorf("%d are left, want %d", n, left)
			}
		}
		cancel()
		auto.Wait()
		if records.asked != 2200 {
			t.Errorf("the store was asked %d times", records.asked)
		}
	})
}
