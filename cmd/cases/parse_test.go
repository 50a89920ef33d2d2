package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const small = `case: C99
title: two sends and a scripted answer
profile: snow
config: settle 5 s
config: heal within 2 s
expect: creates=1..2
expect: counter=unkeyable>=3
never: an answer from the store

### send 1 at=1m30s client=b abort=1s framing=chunked:7 trailer=X-Sum:1
POST /api/now/table/incident HTTP/1.1
Host: snow.example.test
X-Note: a: b

{"cmdb_ci":"{{repeat:ab:3}}"}
second line
### backend 1 commit=yes delay=300ms
HTTP/1.1 201 Created
X-Note: one, two
X-Note: three
Content-Length: 0

### backend until=30s commit=no
HTTP/1.1 429 Too Many Requests

busy
### backend update-1 commit=no
HTTP/1.1 400 Bad Request

### lookup 2 delay=1s
HTTP/1.1 200 OK

[]
### human at=2d
closes T1
### send 2 http=1.0
GET /x HTTP/1.1
Host: snow.example.test

### want 2
status: 200 | 201
ticket: T1 T2 | T3
backend: no
replayed: yes
header: X-Note: a: b
header-absent: Set-Cookie
within: 2s
`

func parsed(t *testing.T, text string) *testCase {
	t.Helper()
	c, err := parseCase(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestACaseFileIsReadWhole(t *testing.T) {
	c := parsed(t, small)
	if c.ID != "C99" || c.Profile != "snow" || len(c.Config) != 2 || len(c.Never) != 1 || len(c.Steps) != 3 {
		t.Fatalf("head or steps: %+v", c)
	}
	s := c.Steps[0].Send
	if s.Client != "b" || s.Abort != time.Second || s.Chunk != 7 || s.Trailer == nil || s.Trailer.Value != "1" {
		t.Errorf("send 1: %+v", s)
	}
	if got, want := string(s.Body), `{"cmdb_ci":"ababab"}`+"\nsecond line"; got != want {
		t.Errorf("body %q, want %q", got, want)
	}
	if got := first(s.Header, "x-note"); got != "a: b" {
		t.Errorf("X-Note %q", got)
	}
	if at := c.Steps[0].At; !at.given || at.after != 90*time.Second {
		t.Errorf("at %v", at)
	}
	if h := c.Steps[1]; h.Human != "closes T1" || h.At.after != 48*time.Hour {
		t.Errorf("human %+v", h)
	}
	if s := c.Steps[2].Send; !strings.HasSuffix(s.Line, " HTTP/1.0") || len(s.Body) != 0 {
		t.Errorf("send 2: %+v", s)
	}
}

func TestScriptedAnswersAreFiledByNumberTimeAndRoute(t *testing.T) {
	c := parsed(t, small)
	if len(c.Create) != 2 || c.Create[0].Number != 1 || c.Create[0].Delay != 300*time.Millisecond || c.Create[1].Until != 30*time.Second {
		t.Fatalf("create scripts: %+v", c.Create)
	}
	if got := get(c.Create[0].Answer.Header, "X-Note"); len(got) != 2 || got[0] != "one, two" || got[1] != "three" {
		t.Errorf("repeated header: %q", got)
	}
	if string(c.Create[1].Answer.Body) != "busy" || c.Update[1].Answer.Status != 400 || c.LookUp[2].Delay != time.Second {
		t.Errorf("scripts: %+v %+v %+v", c.Create[1], c.Update[1], c.LookUp[2])
	}
	w := c.Wants[2]
	if len(w.Status) != 2 || len(w.Tickets) != 2 || w.Backend != "no" || w.Replayed != "yes" || w.Header[0].Value != "a: b" || w.Within != 2*time.Second {
		t.Errorf("want: %+v", w)
	}
	if e := c.Expect[0]; e.holds(0) || !e.holds(2) || e.holds(3) {
		t.Errorf("expect: %+v", e)
	}
	if e := c.Expect[1]; e.name != "counter:unkeyable" || e.holds(2) || !e.holds(300) {
		t.Errorf("expect: %+v", e)
	}
}

func TestAMistakeInACaseFileIsSaid(t *testing.T) {
	const head = "case: C1\nprofile: snow\n"
	for name, tc := range map[string]struct{ text, says string }{
		"no profile":        {"case: C1\n", "no profile"},
		"unknown head":      {head + "colour: red\n", "colour"},
		"unknown block":     {head + "### frobnicate 1\n", "frobnicate"},
		"send that is none": {head + "### send 1\nhello\n", "no request line"},
		"unknown encoding":  {head + "### send 1 encode=rot13\nGET / HTTP/1.1\n\n", "rot13"},
		"unknown want":      {head + "### want 1\ncolour: red\n", "colour"},
		"bad expectation":   {head + "expect: creates=many\n", "many"},
		"bad duration":      {head + "### human at=soon\ncloses T1\n", "soon"},
		"bad commit":        {head + "### backend 1 commit=perhaps\n", "perhaps"},
		"want of an abort":  {head + "### send 1 abort=1s\nGET / HTTP/1.1\n\n### want 1\nstatus: 200\n", "aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseCase(tc.text); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want one that says %q", err, tc.says)
			}
		})
	}
}

func TestBodiesAreEncodedAsTheCaseSays(t *testing.T) {
	for how, want := range map[string]string{
		"":       "é",
		"latin1": "\xe9",
		"bom":    "\xef\xbb\xbfé",
	} {
		if got, err := encode("é", how); err != nil || string(got) != want {
			t.Errorf("encode=%s: %q, %v", how, got, err)
		}
	}
	if got, err := encode("w6kK\n", "base64"); err != nil || string(got) != "é\n" {
		t.Errorf("base64: %q, %v", got, err)
	}
	zipped, err := encode(strings.Repeat("x", 100), "gzip:1")
	if err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(zr); err != nil || len(text) != 100 {
		t.Errorf("gzip: %q, %v", text, err)
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1200ms": 1200 * time.Millisecond, "12d1m": 12*24*time.Hour + time.Minute, "24 h": 24 * time.Hour,
		"15 minutes": 15 * time.Minute, "0s": 0, "2h1m": 121 * time.Minute, "7 days": 7 * 24 * time.Hour,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "soon", "5", "1h soon"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestEveryCaseOfOursIsUnderstood(t *testing.T) {
	for _, file := range caseFilesOf(t, ".http") {
		c := parsed(t, readFile(t, file))
		s, err := newSetup(c.Profile)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.configure(c.Config); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
	for _, file := range caseFilesOf(t, ".seq") {
		q, err := parseSequence(readFile(t, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range q.Lines {
			if l.kind != "E>" || strings.HasPrefix(l.text, "the stream") {
				continue
			}
			if _, err := parseMessages(l.text); err != nil {
				t.Errorf("%s: %v", q.ID, err)
			}
		}
	}
}

func caseFilesOf(t *testing.T, ext string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*"+ext))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s files: %v", ext, err)
	}
	return files
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
