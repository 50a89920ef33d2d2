package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"oneticket/dedup/deadletter"
)

// replayBearer is the credential of the configuration; no client has it.
const replayBearer = "Bearer planted-secret-replay"

// newLetterSidecar has credentials for replays, and sends nothing again by
// itself: what fails stays a letter until somebody replays it.
func newLetterSidecar(t *testing.T, d *desk, settings, more string) *sidecar {
	t.Setenv("DESK_AUTHORIZATION", replayBearer)
	s := newSidecar(t, d, "resend = 0\n  heal_within = \"0\"\n  "+settings, more)
	s.rewrite(`timeout = "5s"`, "timeout = \"5s\"\n  credentials = { Authorization = env(\"DESK_AUTHORIZATION\") }")
	return s
}

// letters are those that the command lists.
func (s *sidecar) letters() (all []deadletter.Letter) {
	s.t.Helper()
	return decoded[deadletter.Letter](s.t, s.command("deadletter", "list", "--json"))
}

func decoded[T any](t *testing.T, lines string) (all []T) {
	t.Helper()
	for dec := json.NewDecoder(strings.NewReader(lines)); dec.More(); {
		var one T
		if err := dec.Decode(&one); err != nil {
			t.Fatalf("%v in %s", err, lines)
		}
		all = append(all, one)
	}
	return all
}

// try runs a command that may fail.
func (s *sidecar) try(args ...string) (stdout string, status int) {
	s.t.Helper()
	binary, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(binary, append(args, "-c", s.config)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// replay replays the letters, or all without an id.
func (s *sidecar) replay(ids ...string) (results []deadletter.Result, status int) {
	s.t.Helper()
	if len(ids) == 0 {
		ids = []string{"--all"}
	}
	out, status := s.try(append([]string{"deadletter", "replay", "--json"}, ids...)...)
	return decoded[deadletter.Result](s.t, out), status
}

// sawLast is the Authorization of the last create.
func (d *desk) sawLast() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.headers) == 0 {
		return ""
	}
	return d.headers[len(d.headers)-1].Get("Authorization")
}

// TestACreateThatFailedIsReplayed, whichever way it failed: there is one
// ticket in the end, made with the credentials of the configuration, and
// whoever fires again is told of it.
func TestACreateThatFailedIsReplayed(t *testing.T) {
	var sick atomic.Bool
	for _, c := range []struct {
		name, settings string
		why            deadletter.Why
		down           bool
		timeout        string                    // of the backend; 5s
		fails          func(http.ResponseWriter) // while the desk is sick; nil: not at all
		makes          int64                     // tickets in the end, beside those that were refused
		recovered      bool
	}{
		{name: "the desk is down", why: deadletter.NeverSent, down: true, makes: 1},
		{name: "the desk is down, which the access log alone knows", timeout: "700ms", why: deadletter.NeverSent, down: true, makes: 1},
		{name: "refused for now, 429", why: deadletter.Refused, fails: func(w http.ResponseWriter) { w.WriteHeader(429) }, makes: 2},
		{name: "refused for now, 503", why: deadletter.Refused, makes: 2,
			fails: func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); w.WriteHeader(503) }},
		{name: "unknown, and can be looked up", why: deadletter.Unknown, makes: 1, recovered: true,
			fails: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
		{name: "unknown, and cannot", settings: "lookup = null", why: deadletter.Unknown, makes: 2,
			fails: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newFlakyDesk(t)
			sick.Store(true)
			d.answers = func(w http.ResponseWriter, _, _ string) bool {
				if !sick.Load() || c.fails == nil {
					return false
				}
				c.fails(w)
				return true
			}
			s := newLetterSidecar(t, d.desk, c.settings, "")
			if c.timeout != "" {
				s.rewrite(`timeout = "5s"`, fmt.Sprintf("timeout = %q", c.timeout))
			}
			s.start()
			if c.down {
				d.server.Close()
			}
			client := newClient(t)
			if a := s.post(client, fault("core-1", 0)); a.status < 400 {
				t.Fatalf("the client saw %d %q", a.status, a.body)
			}
			var letters []deadletter.Letter
			waitFor(t, "the letter", func() bool {
				letters = s.letters()
				return len(letters) == 1 && letters[0].Why == c.why
			})
			if l := letters[0]; l.Doubt != (c.why == deadletter.Unknown) || l.Episode != 1 || l.Ref.Rule != "faults" || l.Method != "POST" {
				t.Errorf("the letter is %+v", l)
			}
			if shown := s.command("deadletter", "show", letters[0].ID); !strings.Contains(shown, fault("core-1", 0)) || strings.Contains(shown, "Basic") {
				t.Errorf("show says %s", shown)
			}
			sick.Store(false)
			if c.down {
				d.open(t)
			}
			results, status := s.replay(letters[0].ID)
			if status != 0 || len(results) != 1 || results[0].Became != deadletter.Ticket {
				t.Fatalf("replay: status %d, %+v; %s", status, results, last(s.log.String(), 3000))
			}
			if got := d.creates.Load(); got != c.makes {
				t.Errorf("%d creates reached the desk, want %d", got, c.makes)
			}
			if !slices.Contains(d.of("core-1"), results[0].Ticket) {
				t.Errorf("replay says %q; there are %q", results[0].Ticket, d.of("core-1"))
			}
			if got := d.sawLast(); !c.recovered && got != replayBearer {
				t.Errorf("the desk saw the credential %q", got)
			}
			if a := s.post(client, fault("core-1", 1)); !a.replayed && a.header.Get("Oneticket-Decision") == "" || a.ticket() != results[0].Ticket {
				t.Errorf("a re-fire saw %d %q %v, want ticket %s", a.status, a.body, a.header, results[0].Ticket)
			}
			if left := s.letters(); len(left) != 0 {
				t.Errorf("%d letters are left", len(left))
			}
			s.kill()
			for path, text := range filesUnder(t, filepath.Join(s.dir, "state")) {
				if strings.Contains(text, "planted-secret-replay") || strings.Contains(text, "Ym90OnNlY3JldA") {
					t.Errorf("a credential stands in %s", path)
				}
			}
			if strings.Contains(s.log.String(), "planted-secret-replay") {
				t.Error("a credential stands in the log")
			}
		})
	}
}

// TestALetterStaysAfterFourTries: half a second between them, doubling.
func TestALetterStaysAfterFourTries(t *testing.T) {
	d := newDesk(t)
	var at []time.Time
	d.answers = func(w http.ResponseWriter, _, _ string) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		at = append(at, time.Now())
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	s := newLetterSidecar(t, d, "", "")
	s.start()
	s.post(newClient(t), fault("core-1", 0))
	results, status := s.replay()
	if status != 1 || len(results) != 1 || results[0].Became != deadletter.Stays || results[0].Tries != 4 {
		t.Fatalf("status %d, %+v", status, results)
	}
	letters := s.letters()
	if len(letters) != 1 || letters[0].Replays != 4 || letters[0].LastError != "answered 429" {
		t.Errorf("the letter is %+v", letters)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(at) != 5 {
		t.Fatalf("%d creates reached the desk, want the client's and four", len(at))
	}
	for i, least := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
		if pause := at[i+2].Sub(at[i+1]); pause < least {
			t.Errorf("try %d came %v after the one before, want %v or more", i+2, pause, least)
		}
	}
}

// TestALaterTicketOfTheKeyDropsTheLetter: it came by another sidecar, which
// knows nothing of our letters.
func TestALaterTicketOfTheKeyDropsTheLetter(t *testing.T) {
	d := newDesk(t)
	var sick atomic.Bool
	sick.Store(true)
	d.answers = func(w http.ResponseWriter, _, _ string) bool {
		if sick.Load() {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return sick.Load()
	}
	store := fmt.Sprintf("store \"sqlite\" {\n path = %q\n timeout = \"5s\"\n}\n", filepath.Join(t.TempDir(), "shared.db"))
	s, other := newLetterSidecar(t, d, "", store), newLetterSidecar(t, d, "", store)
	s.start()
	other.start()
	client := newClient(t)
	s.post(client, fault("core-1", 0))
	if n := len(s.letters()); n != 1 {
		t.Fatalf("%d letters", n)
	}
	sick.Store(false)
	ticket := other.post(client, fault("core-1", 1)).ticket()
	if ticket == "" {
		t.Fatal("the other sidecar makes no ticket")
	}
	before := d.creates.Load()
	// Either this finds that it is over, or the sidecar's own look through its
	// letters was sooner.
	results, _ := s.replay()
	for _, r := range results {
		if r.Became != deadletter.Dropped || r.Ticket != ticket {
			t.Errorf("replay: %+v, want it dropped for %s", r, ticket)
		}
	}
	if left := s.letters(); len(left) != 0 {
		t.Errorf("%d letters are left", len(left))
	}
	if got := d.creates.Load(); got != before {
		t.Errorf("the replay made %d more creates", got-before)
	}
}

// TestALetterWithoutCredentialsStaysAndSaysWhy.
func TestALetterWithoutCredentialsStaysAndSaysWhy(t *testing.T) {
	d := newDesk(t)
	d.answers = func(w http.ResponseWriter, _, _ string) bool { w.WriteHeader(429); return true }
	s := newSidecar(t, d, "resend = 0", "")
	s.start()
	s.post(newClient(t), fault("core-1", 0))
	results, status := s.replay()
	if status != 1 || len(results) != 1 || !strings.Contains(results[0].Detail, `give credentials to backend "servicenow"`) || results[0].Tries != 0 {
		t.Fatalf("status %d, %+v", status, results)
	}
	if out, status := s.try("deadletter", "rm", results[0].ID); status != 0 || len(s.letters()) != 0 {
		t.Errorf("rm: status %d %s", status, out)
	}
}

// TestALetterSurvivesAKillAndIsReplayedUnasked: with replay = "auto" whoever
// starts the sidecar again need do nothing else.
func TestALetterSurvivesAKillAndIsReplayedUnasked(t *testing.T) {
	d := newFlakyDesk(t)
	s := newLetterSidecar(t, d.desk, "", "dead_letter {\n  replay = \"auto\"\n}\n")
	s.start()
	d.server.Close()
	client := newClient(t)
	s.post(client, fault("core-1", 0))
	s.kill()
	ageLetters(t, s, time.Minute) // it is not replayed while its client may still send it again
	d.open(t)
	s.start()
	waitFor(t, "the ticket", func() bool { return d.creates.Load() == 1 })
	waitFor(t, "the end of the letter", func() bool { return s.metric("oneticket_dead_letters") == 0 })
	if got := d.sawLast(); got != replayBearer {
		t.Errorf("the desk saw the credential %q", got)
	}
	if a := s.post(client, fault("core-1", 1)); d.creates.Load() != 1 || a.ticket() != d.of("core-1")[0] {
		t.Errorf("a re-fire saw %d %q; %d tickets", a.status, a.body, d.creates.Load())
	}
}

// ageLetters puts each letter of a process that does not run again, as if so
// long ago.
func ageLetters(t *testing.T, s *sidecar, by time.Duration) {
	t.Helper()
	box, err := deadletter.Open(t.Context(), deadletter.Options{Path: filepath.Join(s.dir, "state", deadletter.FileName)})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if box.Count() == 0 {
		t.Fatal("no letter has survived")
	}
	var ids []string
	if err := box.List(t.Context(), func(l deadletter.Letter) bool { ids = append(ids, l.ID); return true }); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		l, err := box.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		l.At = l.At.Add(-by)
		if _, err := box.Put(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLettersOverABoundAreGivenUpLoudly, the oldest first.
func TestLettersOverABoundAreGivenUpLoudly(t *testing.T) {
	for _, c := range []struct {
		name, setting, bound string
		size                 int
		age                  time.Duration // of the first two, at a restart
		left                 []string
	}{
		{name: "count", setting: "max_count = 2", bound: "max_count", left: []string{"ne-1", "ne-2"}},
		{name: "bytes", setting: `max_bytes = "1MiB"`, bound: "max_bytes", size: 400 << 10, left: []string{"ne-1", "ne-2"}},
		{name: "age", setting: `max_age = "1h"`, bound: "max_age", age: 2 * time.Hour, left: []string{"ne-2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.answers = func(w http.ResponseWriter, _, _ string) bool { w.WriteHeader(429); return true }
			s := newLetterSidecar(t, d, "", "dead_letter {\n  "+c.setting+"\n}\n")
			s.start()
			client := newClient(t)
			post := func(i int) {
				body := strings.Replace(fault(fmt.Sprint("ne-", i), 0), "down,", strings.Repeat("x", c.size), 1)
				if a := s.post(client, body); a.status != 429 {
					t.Fatalf("saw %d %q", a.status, a.body)
				}
			}
			post(0)
			post(1)
			if c.age > 0 {
				s.end(syscall.SIGTERM)
				ageLetters(t, s, c.age)
				s.start()
			}
			post(2)
			var left []string
			for _, l := range s.letters() {
				var fields struct {
					CI string `json:"cmdb_ci"`
				}
				shown := decoded[deadletter.Letter](t, s.command("deadletter", "show", "--json", l.ID))
				if err := json.Unmarshal(shown[0].Body, &fields); err != nil {
					t.Fatal(err)
				}
				left = append(left, fields.CI)
			}
			if !slices.Equal(left, c.left) {
				t.Errorf("left are %q, want %q", left, c.left)
			}
			lost := float64(3 - len(c.left))
			if got := s.metric("oneticket_dead_letters_dropped_total", fmt.Sprintf("bound=%q", c.bound)); got != lost {
				t.Errorf("counted %v as dropped, want %v", got, lost)
			}
			if said := s.log.String(); strings.Count(said, "level=ERROR msg=\"a dead letter was given up") != int(lost) {
				t.Errorf("the log says %s", said)
			}
		})
	}
}

// TestAReloadOfServeReachesItsLetters: a secret that the new file names is not
// kept, and a replay has the credentials that it gives.
func TestAReloadOfServeReachesItsLetters(t *testing.T) {
	d := newDesk(t)
	var sick atomic.Bool
	sick.Store(true)
	d.answers = func(w http.ResponseWriter, _, _ string) bool {
		if sick.Load() {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return sick.Load()
	}
	w := ways(t)[0]
	s := newServed(t, d, w)
	s.rewrite("settle ", "resend = 0\n  settle ")
	configuration := embed(parseTree(t, s.print("static", w)), s.listen)
	s.start()
	runEnvoy(t, configuration)
	s.rewrite("resend = 0", "resend = 0\n  credential = { body = [\"password\"] }")
	s.rewrite(`timeout = "5s"`, "timeout = \"5s\"\n  credentials = { Authorization = \""+replayBearer+"\", \"body.password\" = \"planted-given\" }")
	if status, said := s.reload(); status != 200 {
		t.Fatalf("the reload says %d %q", status, said)
	}
	body := strings.Replace(fault("core-1", 0), "{", `{"password":"planted-asked",`, 1)
	if a := s.post(newClient(t), body); a.status != http.StatusTooManyRequests {
		t.Fatalf("saw %d %q", a.status, a.body)
	}
	for path, text := range filesUnder(t, filepath.Join(s.dir, "state")) {
		if strings.Contains(text, "planted-asked") {
			t.Errorf("what the reload made a secret stands in %s", path)
		}
	}
	sick.Store(false)
	if results, status := s.replay(); status != 0 || len(results) != 1 || results[0].Became != deadletter.Ticket {
		t.Fatalf("replay: status %d, %+v", status, results)
	}
	if got := d.sawLast(); got != replayBearer {
		t.Errorf("the desk saw the credential %q", got)
	}
	if sent := d.bodies[len(d.bodies)-1]; !bytes.Contains(sent, []byte(`"planted-given"`)) {
		t.Errorf("the desk saw %s", sent)
	}
}

// TestAStopInTheMiddleLosesNoCreate: neither one that is being looked for while
// its client waits, nor one that is about to be sent again.
func TestAStopInTheMiddleLosesNoCreate(t *testing.T) {
	for name, down := range map[string]bool{"while it is healed": false, "while it waits to be sent again": true} {
		t.Run(name, func(t *testing.T) {
			d := newFlakyDesk(t)
			var lost atomic.Bool
			lost.Store(true)
			d.answers = func(_ http.ResponseWriter, element, _ string) bool {
				if !lost.Load() {
					return false
				}
				d.mu.Lock()
				clear(d.tickets) // it was not made after all
				clear(d.keys)
				d.mu.Unlock()
				panic(http.ErrAbortHandler)
			}
			t.Setenv("DESK_AUTHORIZATION", replayBearer)
			s := newSidecar(t, d.desk, "heal_within = \"8s\"", "")
			s.rewrite(`timeout = "5s"`, "timeout = \"5s\"\n  credentials = { Authorization = env(\"DESK_AUTHORIZATION\") }")
			s.start()
			if down {
				d.server.Close()
			}
			told := make(chan answer, 1)
			go func() { told <- s.post(newClient(t), fault("core-1", 0)) }()
			waitFor(t, "the letter", func() bool { return s.metric("oneticket_dead_letters") == 1 })
			s.end(syscall.SIGTERM)
			if a := <-told; a.status == 201 {
				t.Errorf("the client was told %d %q", a.status, a.body)
			}
			if code := s.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit status %d: %s", code, last(s.log.String(), 3000))
			}
			lost.Store(false)
			if down {
				d.open(t)
			}
			s.start()
			if n := len(s.letters()); n != 1 {
				t.Fatalf("%d letters after the restart", n)
			}
			if results, status := s.replay(); status != 0 || len(results) != 1 || results[0].Became != deadletter.Ticket {
				t.Fatalf("replay: status %d, %+v", status, results)
			}
			if n := len(d.of("core-1")); n != 1 {
				t.Errorf("%d tickets", n)
			}
		})
	}
}
