package config_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
)

// A recordedRow is what one unchanged client sent while everything between it and
// the ticket system failed in turn: all creates of one fault that differ in
// anything, and what else it sent.
type recordedRow struct {
	Client, Preset  string
	Creates, Others []clientRow
}

// recordedIdentities are what a person would call the fault, of the presets
// whose own comment names fields that these clients do not fill in.
var recordedIdentities = map[string]string{
	"servicenow/incident": "identity = { title = body.short_description }\n",
	"zendesk/ticket":      "identity = { title = body.ticket.subject }\n",
	"generic/json":        "identity = { title = coalesce(body.title, body.groupKey) }\n",
	"jira/issue": `identity = {
  project = coalesce(each.value.fields.project.key, each.value.fields.project.id)
  title   = replace(each.value.fields.summary, "/ - [0-9]{4}-.*/", "")
}
`,
}

func TestEveryRecordedRequestOfEveryClient(t *testing.T) {
	var b strings.Builder
	all := map[string]*config.Rule{}
	for _, name := range config.Presets() {
		if info, _ := config.FindPreset(name); !info.Unproven && name != "generic/json" {
			all[name] = presetRule(t, name)
		}
	}
	for _, row := range readRows[recordedRow](t, "", "recorded.json") {
		t.Run(row.Client, func(t *testing.T) {
			faults := recordedRule(t, row.Preset)
			fmt.Fprintf(&b, "== %s: %s\n", row.Client, row.Preset)
			retries, kept := converge(t, presetRule(t, row.Preset), row.Creates), 0
			for _, identity := range converge(t, faults, row.Creates) {
				fmt.Fprintf(&b, "%s\n", identity)
				kept++
			}
			fmt.Fprintf(&b, "%d creates, %d faults, %d without an identity\n", len(row.Creates), kept, len(retries))
			for _, other := range row.Others {
				req, _ := other.request(t, faults.Wants())
				if _, err := faults.Fault(req); faults.Matches(req) && !errors.Is(err, dedup.ErrNoMatch) {
					t.Errorf("%s %s counts as a create", other.Method, other.Target)
				}
			}
			for name, r := range all {
				req, _ := row.Creates[0].request(t, r.Wants())
				if _, err := r.Fault(req); name != row.Preset && r.Matches(req) && !errors.Is(err, dedup.ErrNoMatch) {
					t.Errorf("%s takes it too", name)
				}
			}
		})
	}
	compareText(t, filepath.Join("testdata", "presets", "recorded.txt"), b.String())
}

func recordedRule(t *testing.T, preset string) *config.Rule {
	t.Helper()
	identity, own := recordedIdentities[preset]
	if !own {
		return commentedRule(t, preset, "identity")
	}
	return parse(t, "backend \"b\" { url = \"https://acme.example.test\" }\nrule \"faults\" {\n backend = \"b\"\n preset = \""+preset+"\"\n"+identity+"}").Rules[0]
}

// converge returns the faults of the creates, each once: by their identities, or
// by their keys where the rule has none.
func converge(t *testing.T, r *config.Rule, creates []clientRow) []string {
	t.Helper()
	var all []string
	for _, row := range creates {
		req, _ := row.request(t, r.Wants())
		for _, one := range eachOf(r, req) {
			f, err := r.Fault(one)
			if err != nil || !r.Matches(one) {
				t.Errorf("%s %s: %v", row.Method, row.Target, err)
			}
			all = append(all, string(f.Ref.Key)+" "+f.Identity)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// eachOf are the creates of a request.
func eachOf(r *config.Rule, req *dedup.Request) []*dedup.Request {
	if r.Each == nil {
		return []*dedup.Request{req}
	}
	list := req.Body
	for _, name := range r.Each.List {
		list = list.Member(name)
	}
	if list.Kind != dedup.ListValue {
		return []*dedup.Request{req}
	}
	var all []*dedup.Request
	for i := range list.Items {
		one := *req
		text, _ := list.Items[i].CanonicalJSON()
		one.Each, one.Raw = &list.Items[i], []byte(text)
		all = append(all, &one)
	}
	return all
}
