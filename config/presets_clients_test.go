package config_test

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/extproc/body"
)

// clientTickets are the presets whose folder in testdata/presets has
// requests.json (what unchanged clients send), answers.json, and reads.txt: all
// that the preset, and a rule with the identity of the preset's own comment,
// make of them.
var clientTickets = map[string]dedup.Ticket{
	"pagerduty/events":    {ID: "db1"},
	"pagerduty/events_v1": {ID: "db1"},
	"pagerduty/incidents": {ID: "PT4KHLK"},
	"opsgenie/alerts":     {ID: "4711"},
	"glpi/ticket":         {ID: "Ticket/7"},
	"redmine/issues":      {ID: "7"},
	"rt/rest1":            {ID: "7"},
	"rt/rest2":            {ID: "7"},
	"rt/mailgate":         {ID: "7"},
	"servicenow/event":    {},
	"servicenow/soap":     {ID: "46e2fa7b0a0a0b5500c6d2f9e5a6c1d8"},
	"zammad/ticket":       {ID: "7"},
}

// A clientRow is one request, and others that are the same fault.
type clientRow struct {
	Client, Method, Target, Body string
	Headers                      [][2]string
	Again                        []clientRow
}

func (row *clientRow) header(name string) string {
	for _, h := range row.Headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// request decodes the row as the filter does.
func (row *clientRow) request(t testing.TB, want *dedup.Want) (*dedup.Request, *body.Body) {
	t.Helper()
	path, query, _ := strings.Cut(row.Target, "?")
	r := &dedup.Request{Method: row.Method, Host: "acme.example.test"}
	r.Path, _ = url.PathUnescape(path)
	for pair := range strings.SplitSeq(query, "&") {
		name, value, ok := strings.Cut(pair, "=")
		if name == "" && !ok {
			continue
		}
		plain, _ := url.QueryUnescape(value)
		r.Query = append(r.Query, dedup.HeaderField{Name: name, Value: plain})
	}
	for _, h := range row.Headers {
		r.Header = append(r.Header, dedup.HeaderField{Name: h[0], Value: h[1]})
	}
	if row.Body == "" {
		return r, nil
	}
	b, err := body.Decode([]byte(row.Body), row.header("content-type"), row.header("content-encoding"), body.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", row.Client, err)
	}
	r.Raw = b.Text
	if r.Body, err = b.Value(want); err != nil {
		t.Fatalf("%s: %v", row.Client, err)
	}
	return r, b
}

// comment is the part of a preset's comments that shows the setting.
func comment(t testing.TB, preset, setting string) string {
	t.Helper()
	source, err := config.PresetSource(preset)
	if err != nil {
		t.Fatal(err)
	}
	var block []string
	for line := range strings.Lines(string(source) + "\n") {
		if code, ok := strings.CutPrefix(line, "#   "); ok {
			block = append(block, code)
			continue
		}
		if slices.ContainsFunc(block, func(code string) bool { return strings.HasPrefix(code, setting+" ") }) {
			return strings.Join(block, "")
		}
		block = nil
	}
	t.Fatalf("the comments of %s have no %s", preset, setting)
	return ""
}

func commentedRule(t testing.TB, preset string, settings ...string) *config.Rule {
	t.Helper()
	text := "backend \"b\" {\n url = \"https://acme.example.test\"\n}\nrule \"faults\" {\n backend = \"b\"\n preset = \"" + preset + "\"\n"
	for _, setting := range settings {
		text += comment(t, preset, setting)
	}
	c, diags := config.Parse(map[string][]byte{"p.hcl": []byte(text + "}\n")}, nil)
	if n := strings.Count(diags.String(), "is unproven"); diags.ForServe().Len() > n {
		t.Fatal(diags)
	}
	return c.Rules[0]
}

func TestWhatPresetsMakeOfTheirClients(t *testing.T) {
	for preset := range clientTickets {
		t.Run(preset, func(t *testing.T) {
			retry, faults := presetRule(t, preset), commentedRule(t, preset, "identity")
			var b strings.Builder
			for _, row := range readRows[clientRow](t, preset, "requests.json") {
				fmt.Fprintf(&b, "== %s: %s %s\n", row.Client, row.Method, row.Target)
				writeRequest(t, &b, retry, faults, &row)
				sameFault(t, faults, &row)
			}
			for _, row := range readRows[answerRow](t, preset, "answers.json") {
				fmt.Fprintf(&b, "-- %s: %s\n", row.Kind, row.Name)
				writeAnswer(t, &b, faults, &row)
			}
			compareText(t, filepath.Join("testdata", "presets", preset, "reads.txt"), b.String())
		})
	}
}

func writeRequest(t *testing.T, b *strings.Builder, retry, faults *config.Rule, row *clientRow) {
	t.Helper()
	req, text := row.request(t, faults.Wants())
	if id, ok := faults.Resolves(req); ok {
		fmt.Fprintf(b, "may close %q\n", id)
	}
	if id, ok := faults.ReadsTicket(req); ok {
		fmt.Fprintf(b, "reads %q\n", id)
	}
	if !faults.Matches(req) {
		fmt.Fprintln(b, "is no create")
		return
	}
	f, err := faults.Fault(req)
	if errors.Is(err, dedup.ErrNoMatch) {
		fmt.Fprintln(b, "is no create, by its body")
		return
	}
	fmt.Fprintf(b, "retry   %s\nfault   %s\n", keyed(retry, req), keyed(faults, req))
	fmt.Fprintf(b, "sender  %s\n", faults.Principal(req))
	if err != nil {
		return
	}
	token := f.ClientToken
	if token == "" {
		token = string(f.Ref.Key)
	}
	writeSent(b, faults, text, token)
	writeCalls(b, faults, req, f, token)
}

func keyed(r *config.Rule, req *dedup.Request) string {
	f, err := r.Fault(req)
	switch {
	case errors.Is(err, dedup.ErrNoMatch):
		return "is no create"
	case err != nil:
		return err.Error()
	}
	text := string(f.Ref.Key) + " " + f.Identity
	if f.ClientToken != "" {
		text += " token=" + f.ClientToken
	}
	if !r.RetryMode {
		text += fmt.Sprintf(" severity=%s cleared=%v witness=%q", f.Fingerprint.Severity, f.Fingerprint.Cleared, f.Witness)
	}
	return text
}

// writeSent writes the body with the token in it.
func writeSent(b *strings.Builder, r *config.Rule, text *body.Body, token string) {
	native, ok := r.NativeToken(token)
	if !ok || r.TokenField == nil {
		return
	}
	if sent, written := text.SetField(r.TokenField, native); written {
		fmt.Fprintf(b, "sent    %q\n", sent)
	} else {
		fmt.Fprintln(b, "sent    as it came")
	}
}

func writeCalls(b *strings.Builder, r *config.Rule, req *dedup.Request, f dedup.Fault, token string) {
	ticket := clientTickets[r.Preset]
	show := func(name string, c dedup.Call, ok bool) {
		if ok {
			fmt.Fprintf(b, "%-7s %s %s %s\n", name, c.Method, c.Path, c.Body)
		}
	}
	c, ok := r.LookUp(req, token)
	show("look-up", c, ok)
	c, ok = r.ReadCall(req, ticket)
	show("read", c, ok)
	f.Fingerprint.Cleared = false
	c, ok = r.UpdateCall(req, ticket, token, f, dedup.Changed)
	show("update", c, ok)
	c, ok = r.UpdateCall(req, ticket, token, f, dedup.Reopened)
	show("reopen", c, ok)
	f.Fingerprint.Cleared = true
	c, ok = r.UpdateCall(req, ticket, token, f, dedup.Changed)
	show("clear", c, ok)
}

// sameFault: what the same client sends on another try, or another sender of
// the same fault, has the same key.
func sameFault(t *testing.T, r *config.Rule, row *clientRow) {
	t.Helper()
	if len(row.Again) == 0 {
		return
	}
	req, _ := row.request(t, r.Wants())
	want, err := r.Fault(req)
	if err != nil {
		t.Fatalf("%s: %v", row.Client, err)
	}
	for i := range row.Again {
		again := &row.Again[i]
		if again.Method == "" {
			again.Method = row.Method
		}
		req, _ := again.request(t, r.Wants())
		got, err := r.Fault(req)
		if err != nil || !r.Matches(req) || got.Ref != want.Ref {
			t.Errorf("%s, again %d: %s, %v, want %s", row.Client, i, got.Identity, err, want.Identity)
		}
	}
}

func TestRequestsOfOtherSystemsAreNotTaken(t *testing.T) {
	rows := readRows[clientRow](t, "", "others.json")
	for preset := range clientTickets {
		for _, row := range rows {
			req, _ := row.request(t, nil)
			if r := presetRule(t, preset); r.Matches(req) {
				t.Errorf("%s takes what %s sends", preset, row.Client)
			}
		}
	}
}

func TestABareBackendHasTheDefaultOfItsFamily(t *testing.T) {
	for name, want := range map[string]string{"pagerduty": "pagerduty/events", "glpi": "glpi/ticket", "opsgenie": "opsgenie/alerts", "redmine": "redmine/issues", "rt": "rt/rest1", "servicenow": "servicenow/incident", "zammad": "zammad/ticket"} {
		if r := parse(t, `backend "`+name+`" { url = "https://acme.example.test" }`).Rules[0]; r.Preset != want || !r.RetryMode {
			t.Errorf("%s: %s, %v", name, r.Preset, r.RetryMode)
		}
	}
}

func TestBackendsThatFoldGetRepeats(t *testing.T) {
	for preset := range clientTickets {
		p := presetRule(t, preset).Policy(config.DefaultClass)
		folds := slices.Contains([]string{"pagerduty/events", "pagerduty/events_v1", "opsgenie/alerts", "servicenow/event"}, preset)
		if p.OnRefireForward != folds || (p.Memory == dedup.Folds) != folds {
			t.Errorf("%s: %+v", preset, p)
		}
	}
}
