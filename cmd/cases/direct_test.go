package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noGuardNeeded are the cases that a bare backend passes as well: nothing in
// them is a duplicate that must be held back.
var noGuardNeeded = map[string]bool{"C16": true, "C17": true, "C58": true, "C60": true}

// TestWithoutOneticketTheCasesFail plays cases with nothing between clients and
// backend: a check that cannot fail is none.
func TestWithoutOneticketTheCasesFail(t *testing.T) {
	for _, file := range caseFilesOf(t, "") {
		text := readFile(t, file)
		if filepath.Ext(file) != ".http" || strings.Contains(text, "delay=") || strings.Contains(text, "abort=") ||
			strings.Contains(text, "config: heal") || strings.Contains(text, "config: resend") {
			continue
		}
		id := idOf(text)
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := playCase(t.Context(), environment{}, text)
			if r.passed() != noGuardNeeded[id] {
				t.Errorf("passed: %v; %v", r.passed(), r.Findings)
			}
		})
	}
}

func play(t *testing.T, text string) result {
	t.Helper()
	return playCase(t.Context(), environment{}, text)
}

const twoSends = `case: C1
profile: snow
%HEAD%
### send 1
POST /api/now/table/incident HTTP/1.1
Host: h

{"cmdb_ci":"a"}
%BETWEEN%### send 2 at=2h
POST /api/now/table/incident HTTP/1.1
Host: h

{"cmdb_ci":"b"}
### want 2
%WANT%
`

func twoSendsWith(head, between, want string) string {
	return strings.NewReplacer("%HEAD%", head, "%BETWEEN%", between, "%WANT%", want).Replace(twoSends)
}

func TestTheClockIsMovedBetweenSteps(t *testing.T) {
	text := twoSendsWith("expect: creates=1\nexpect: requests=2", "### backend until=1h commit=no\nHTTP/1.1 429 Busy\n\n", "status: 201\nticket: T1\nbackend: yes\nwithin: 1s")
	if r := play(t, text); !r.passed() {
		t.Errorf("%v", r.Findings)
	}
}

func TestHumansActAtTheirTime(t *testing.T) {
	closed := "### human at=1h\ncloses T1\n"
	if r := play(t, twoSendsWith("", closed, "status: 201\nticket: T2")); !r.passed() {
		t.Errorf("%v", r.Findings)
	}
	shut := "### human at=1h\ncloses the backend's port\n### human at=90m\nopens the backend's port\n"
	text := strings.Replace(twoSendsWith("", shut, "status: 201"), "### send 2 at=2h", "### send 2 at=2h client=b", 1)
	if r := play(t, text); !r.passed() {
		t.Errorf("%v", r.Findings)
	}
	if r := play(t, twoSendsWith("", "### human at=1h\nsings\n", "status: 201")); r.passed() {
		t.Error("nobody noticed that an act is not understood")
	}
}

func TestNeverLinesAreChecked(t *testing.T) {
	const teapot = "### backend 2\nHTTP/1.1 201 Created\nIdempotent-Replayed: true\n\n{}\n"
	for name, tc := range map[string]struct{ never, between, finds string }{
		"kept":                {"an answer from the store", "", ""},
		"an answer repeated":  {"an answer from the store", teapot, "never an answer from the store"},
		"the backend's own":   {"a 4xx or 5xx of the sidecar's own", "### backend 2\nHTTP/1.1 404 Not Found\n\n", ""},
		"success too early":   {"a success before the ticket exists", "### backend 1 commit=no\nHTTP/1.1 200 OK\n\n", "never a success"},
		"a long native field": {"a key in the native field longer than 3 characters", "", ""},
		"not understood":      {"the second disk swallowed", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, twoSendsWith("never: "+tc.never, tc.between, ""))
			switch {
			case tc.finds == "" && !r.passed():
				t.Errorf("%v", r.Findings)
			case tc.finds != "" && (r.passed() || !strings.Contains(r.Findings[0].String(), tc.finds)):
				t.Errorf("%v, want %q", r.Findings, tc.finds)
			}
			if unchecked := len(r.Notes) > 0; unchecked != (name == "not understood") {
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
}

func TestSendsOfAGroupStartTogether(t *testing.T) {
	text := `case: C1
profile: snow
expect: creates=2
### send 1 par=1
POST /api/now/table/incident HTTP/1.1
Host: h

{}
### backend 1 delay=200ms
### want 1
status: 201
### send 2 par=1
POST /api/now/table/incident HTTP/1.1
Host: h

{}
### backend 2 delay=200ms
### want 2
status: 201
`
	r := &run{script: parsed(t, text), sys: snow{}, clients: map[string]*client{}}
	defer r.close()
	if err := r.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.play(); err != nil {
		t.Fatal(err)
	}
	if r.check(); len(r.findings) > 0 {
		t.Errorf("%v", r.findings)
	}
	if r.seen[0].at+r.seen[0].took < r.seen[1].at {
		t.Error("the second began when the first was over")
	}
}

func TestTheReportSaysWhatIsNotAsListed(t *testing.T) {
	for _, text := range []string{"C05\n", "C05 one\nC05 two\n"} {
		if _, err := parseExceptions(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	exceptions, err := parseExceptions("# known\n\nC05\tno look-up\n")
	if err != nil {
		t.Fatal(err)
	}
	bad := []finding{{"send 2", "ticket T1", "T2\n x"}}
	for _, tc := range []struct {
		result result
		line   string
		good   bool
	}{
		{result{ID: "C01"}, "ok C01", true},
		{result{ID: "C01", Findings: bad}, "FAIL C01: wanted ticket T1, saw T2 x (send 2)", false},
		{result{ID: "C05", Findings: bad}, "FAIL C05: wanted ticket T1, saw T2 x (send 2) [exception: no look-up]", true},
		{result{ID: "C05"}, "FAIL C05: wanted it to fail (on the list of exceptions: no look-up), saw it pass", false},
	} {
		if line, good := tc.result.verdict(exceptions); line != tc.line || good != tc.good {
			t.Errorf("%q, %v; want %q, %v", line, good, tc.line, tc.good)
		}
	}
}

func TestTheCommandReportsEachCaseAndItsStatus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("C1-good.http", twoSendsWith("", "", "status: 201"))
	var out, talk bytes.Buffer
	if status := command(t.Context(), []string{"-direct", dir}, &out, &talk); status != 0 || out.String() != "ok C1\n" {
		t.Errorf("status %d: %s%s", status, out.String(), talk.String())
	}
	write("C2-bad.http", strings.Replace(twoSendsWith("", "", "status: 500"), "case: C1", "case: C2", 1))
	out.Reset()
	if status := command(t.Context(), []string{"-direct", dir}, &out, &talk); status != 1 || !strings.Contains(out.String(), "ok C1\nFAIL C2: wanted status 500, saw 201") {
		t.Errorf("status %d: %s%s", status, out.String(), talk.String())
	}
	for _, args := range [][]string{{}, {"-direct", t.TempDir()}, {"-run", "(", dir}, {"-nonsense"}} {
		if status := command(t.Context(), args, &out, &talk); status != 1 {
			t.Errorf("%q: status %d", args, status)
		}
	}
}
