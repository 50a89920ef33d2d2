package main_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

// A failedUpdate is one cell of the table: how the first update of a ticket
// fails, what the rule says of that, and which severity it was about. The
// ticket has severity 2.
type failedUpdate struct {
	kind     *updateKind
	onFailed string // on_update_failed
	severity string // 1 is worse, 3 is better
}

func (u *failedUpdate) element() string { return u.kind.slug + "/" + u.onFailed + "/" + u.severity }

func (u *failedUpdate) fault(severity string) string {
	return fmt.Sprintf(`{"cmdb_ci":%q,"category":"link","urgency":%q,"short_description":"down"}`, u.element(), severity)
}

// headers choose the rule.
func (u *failedUpdate) headers() []string {
	has := "yes"
	if u.kind.noUpdate {
		has = "no"
	}
	return []string{"X-On-Failed", u.onFailed, "X-Update", has}
}

// A lived is what was seen of it, in words.
type lived struct{ saw, record, then, tickets string }

// updateRules are one rule for each on_update_failed, with and without an
// update.
func updateRules() string {
	var b strings.Builder
	for _, onFailed := range []string{"forward", "error", "suppress"} {
		for _, has := range []string{"yes", "no"} {
			less := ""
			if has == "no" {
				less = "update = null\n  clear = null\n  reopen = null\n"
			}
			fmt.Fprintf(&b, `
rule "%s_%s" {
  backend  = "servicenow"
  match    = { headers = { x-on-failed = %q, x-update = %q } }
  identity = { element = lower(body.cmdb_ci), kind = body.category }
  fingerprint = { severity = severity(body.urgency) }
  severity = { critical = ["1"], major = ["2"], minor = ["3"] }
  on_update_failed = %q
  settle  = "1s"
  %s
}
`, onFailed, has, onFailed, has, onFailed, less)
		}
	}
	return b.String()
}

// newUpdated is a sidecar with these rules alone.
func newUpdated(t *testing.T, d *updateDesk) *sidecar {
	s := &sidecar{t: t, dir: t.TempDir(), listen: freeAddress(t), admin: freeAddress(t)}
	s.config = filepath.Join(s.dir, "oneticket.hcl")
	text := fmt.Sprintf("state_dir = %q\nadmin = %q\nbackend \"servicenow\" {\n url = %q\n listen = %q\n timeout = \"2s\"\n}\n%s",
		filepath.Join(s.dir, "state"), s.admin, "http://"+d.address, s.listen, updateRules())
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	return s
}

// TestAFailedUpdateOfEachKind is the table of what becomes of it, and holds the
// page to it. No escalation is lost: it reached the ticket or a new one, when
// the client was told that all is well or had sent it once more.
func TestAFailedUpdateOfEachKind(t *testing.T) {
	d := newUpdateDesk(t)
	s := newUpdated(t, d)
	rows := map[failedUpdate]lived{}
	var mu sync.Mutex
	for i := range updateKinds {
		kind := &updateKinds[i]
		var all []failedUpdate
		for _, onFailed := range []string{"forward", "error", "suppress"} {
			for _, severity := range []string{"1", "3"} {
				all = append(all, failedUpdate{kind, onFailed, severity})
			}
		}
		kind.play(s, d, all, func(u failedUpdate, l lived) {
			mu.Lock()
			defer mu.Unlock()
			rows[u] = l
		})
	}
	table := updateTable(rows)
	t.Logf("\n%s", table)
	holdPage(t, "../../examples/updates/README.md", table)
}

// play lives all rows of the kind: each first has its ticket.
func (k *updateKind) play(s *sidecar, d *updateDesk, all []failedUpdate, lives func(failedUpdate, lived)) {
	each := func(f func(u *failedUpdate)) {
		var running sync.WaitGroup
		for i := range all {
			if k.serial {
				f(&all[i])
				continue
			}
			running.Go(func() { f(&all[i]) })
		}
		running.Wait()
	}
	c := newClient(s.t)
	first := make([]answer, len(all))
	seen := make([]lived, len(all))
	at := func(u *failedUpdate) int { return slices.Index(all, *u) }
	each(func(u *failedUpdate) {
		first[at(u)] = s.post(c, u.fault("2"), u.headers()...)
		if k.before != nil {
			k.before(d, first[at(u)].ticket())
		}
	})
	if k.away {
		d.leave()
	}
	each(func(u *failedUpdate) {
		a := s.post(c, u.fault(u.severity), u.headers()...)
		seen[at(u)].saw = u.words(a, first[at(u)])
		seen[at(u)].record = s.recordOf(u)
	})
	if k.away {
		d.comeBack()
	}
	each(func(u *failedUpdate) {
		l := &seen[at(u)]
		l.then = u.words(s.postUntilDecided(c, u), first[at(u)])
		l.tickets = d.describe(u.element())
		u.check(s.t, d, l)
		lives(*u, *l)
	})
}

// postUntilDecided sends it again as long as the client is told to.
func (s *sidecar) postUntilDecided(c *http.Client, u *failedUpdate) answer {
	s.t.Helper()
	var a answer
	waitFor(s.t, "a decision on "+u.element(), func() bool {
		a = s.post(c, u.fault(u.severity), u.headers()...)
		return a.status != 503 && a.status != 504
	})
	return a
}

// check: an escalation is never lost.
func (u *failedUpdate) check(t *testing.T, d *updateDesk, l *lived) {
	t.Helper()
	if u.severity != "1" || d.hasOpen(u.element(), "1") {
		return
	}
	switch {
	case u.kind.noUpdate && u.onFailed == "suppress": // that is what it says
	case u.kind.noUpdate && u.onFailed == "error" && strings.HasPrefix(l.saw, "409") && strings.HasPrefix(l.then, "409"): // each client is told
	default:
		t.Errorf("%s: the escalation is lost: %+v", u.element(), *l)
	}
}

// words are what a client saw: the status, and whose answer it was.
func (u *failedUpdate) words(a, first answer) string {
	words := fmt.Sprint(a.status)
	if slices.Contains(u.kind.proxys, a.status) {
		words = "503 or 504" // of the proxy, as it happens
	}
	switch {
	case a.status == 201 && a.ticket() == first.ticket():
		words += ", the ticket"
	case a.status == 201:
		words += ", a new ticket"
	}
	if decision := a.decision(); a.status == 201 || a.status == 409 && u.kind.noUpdate {
		words += " (" + strings.Replace(decision, "; reason=", ", ", 1) + ")"
	}
	return words
}

// recordOf is the record of the row as it stands in the store.
func (s *sidecar) recordOf(u *failedUpdate) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	store, err := sqlitestore.Open(ctx, sqlitestore.Options{Path: filepath.Join(s.dir, "state", "oneticket.db"), Timeout: 10 * time.Second})
	if err != nil {
		s.t.Error(err)
		return ""
	}
	defer store.Close()
	state := ""
	err = store.List(ctx, u.onFailed+"_"+u.headers()[3], func(_ dedup.Ref, rec dedup.Record) bool {
		if !strings.Contains(string(rec.Identity), strings.ToLower(u.element())) {
			return true
		}
		state = recordWords(rec)
		return false
	})
	if err != nil {
		s.t.Error(err)
	}
	return state
}

// recordWords are those of the design: "open, 2", and "?" for what is not known.
func recordWords(rec dedup.Record) string {
	words := string(rec.State)
	switch {
	case rec.State == dedup.Closed && rec.InDoubt:
		words += " in doubt"
	case rec.State == dedup.Open && rec.Fingerprint == dedup.Unknown:
		words += ", severity unknown"
	case rec.State == dedup.Open:
		words += ", severity " + rec.Fingerprint.Severity
	}
	if rec.Episode > 1 {
		words += fmt.Sprintf(", episode %d", rec.Episode)
	}
	return words
}
