package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
	"oneticket/dedup/storetest"
)

// A letterDesk is a state_dir with letters, and a command line beside it.
type letterDesk struct {
	t      *testing.T
	config string
	path   string
	admin  net.Listener
}

func newLetterDesk(t *testing.T) *letterDesk {
	dir := t.TempDir()
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	d := &letterDesk{t: t, config: filepath.Join(dir, "oneticket.hcl"), path: filepath.Join(dir, deadletter.FileName), admin: admin}
	text := fmt.Sprintf("state_dir = %q\nadmin = %q\nbackend \"jira\" {\n  url = \"https://jira.example.com\"\n}\n", dir, admin.Addr())
	if err := os.WriteFile(d.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *letterDesk) open() *deadletter.Box {
	d.t.Helper()
	box, err := deadletter.Open(d.t.Context(), deadletter.Options{Path: d.path})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { box.Close() })
	return box
}

// fill puts two letters: one never sent, one of unknown outcome.
func (d *letterDesk) fill(box *deadletter.Box) {
	d.t.Helper()
	for i, why := range []deadletter.Why{deadletter.NeverSent, deadletter.Unknown} {
		_, err := box.Put(d.t.Context(), deadletter.Letter{
			Ref: dedup.Ref{Rule: "network_faults", Key: dedup.Key(fmt.Sprintf("idem:%d", i))}, Backend: "jira", Episode: 1,
			Why: why, Status: 504 * i, Method: "POST", Path: "/rest/api/2/issue", At: time.Now().Add(-90 * time.Minute),
			Header: []dedup.HeaderField{{Name: "content-type", Value: "application/json"}}, Body: []byte("{\"a\":\"\x1b[2J\"}"),
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// run runs one command and returns what it says.
func (d *letterDesk) run(args ...string) (stdout, stderr string, err error) {
	var out, talk strings.Builder
	cmd := newDeadLetterCommand(&common{configPath: d.config, stdout: &out, stderr: &talk})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(d.t.Context())
	return out.String(), talk.String(), err
}

func (d *letterDesk) listsBoth() {
	d.t.Helper()
	out, _, err := d.run("list")
	want := "ID        AGE    RULE            KEY     WHY         STATUS  TRIES\n" +
		"00000001  1h30m  network_faults  idem:0  never_sent  -       1\n" +
		"00000002  1h30m  network_faults  idem:1  unknown     504     1\n"
	if err != nil || out != want {
		d.t.Errorf("list says\n%s%v", out, err)
	}
}

func TestTheLettersOfAProcessThatDoesNotRun(t *testing.T) {
	d := newLetterDesk(t)
	if out, talk, err := d.run("list"); out != "" || talk != "no dead letters\n" || err != nil {
		t.Errorf("without a file: %q %q %v", out, talk, err)
	}
	box := d.open()
	d.fill(box)
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	d.listsBoth()
	out, _, err := d.run("show", "2")
	if err != nil || !strings.Contains(out, "POST /rest/api/2/issue\ncontent-type: application/json\n\n{\"a\":\"\uFFFD[2J\"}\n") {
		t.Errorf("show says\n%s%v", out, err)
	}
	out, _, err = d.run("show", "2", "--json")
	var l deadletter.Letter
	if err != nil || json.Unmarshal([]byte(out), &l) != nil || string(l.Body) != "{\"a\":\"\x1b[2J\"}" || l.Why != deadletter.Unknown {
		t.Errorf("show --json says\n%s%v", out, err)
	}
	if _, _, err := d.run("rm", "1"); err != nil {
		t.Error(err)
	}
	if _, _, err := d.run("show", "1"); !errors.Is(err, deadletter.ErrNotFound) {
		t.Errorf("show of what is gone: %v", err)
	}
	d.admin.Close()
	if _, _, err := d.run("replay", "--all"); err == nil || !strings.Contains(err.Error(), "the oneticket that runs") {
		t.Errorf("replay without a process: %v", err)
	}
	if _, talk, err := d.run("rm", "--all"); err != nil || talk != "1 removed\n" {
		t.Errorf("rm --all says %q, %v", talk, err)
	}
	for _, args := range [][]string{{"rm"}, {"replay"}, {"rm", "1", "--all"}, {"show"}, {"list", "1"}} {
		if _, _, err := d.run(args...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}

func TestTheLettersOfAProcessThatRuns(t *testing.T) {
	d := newLetterDesk(t)
	box := d.open()
	d.fill(box)
	replayer := &deadletter.Replayer{
		Box: box, Records: storetest.NewMemory(time.Now), Log: slog.New(slog.DiscardHandler),
		Sender: &deadletter.HTTPSender{
			Listener:    func(string) (string, error) { return "", fmt.Errorf("%w: no listener", deadletter.ErrNotSendable) },
			Credentials: func(string) map[string]string { return nil },
		},
	}
	go http.Serve(d.admin, deadletter.Handler(box, replayer)) // ends with its listener
	d.listsBoth()
	out, _, err := d.run("replay", "--all")
	want := "00000001  stays  (this letter cannot be sent: no listener)\n" +
		"00000002  stays  (the record of its key does not say whether it became a ticket: look for one, then rm it)\n"
	if out != want || err == nil || !strings.Contains(err.Error(), "2 of 2 letters stay") {
		t.Errorf("replay says\n%s%v", out, err)
	}
	if _, _, err := d.run("rm", "1", "2"); err != nil || box.Count() != 0 {
		t.Errorf("%d letters after rm: %v", box.Count(), err)
	}
	if _, _, err := d.run("replay", "1"); !errors.Is(err, deadletter.ErrNotFound) {
		t.Errorf("replay of what is gone: %v", err)
	}
}
