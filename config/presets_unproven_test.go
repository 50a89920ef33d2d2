package config_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/extproc/body"
)

// An unprovenRow is what is written of a system: how its clients make a ticket,
// what they send to the same API that makes none, and what it answers.
type unprovenRow struct {
	Preset          string
	Creates, Others []clientRow
	Answers         []unprovenAnswer
}

type unprovenAnswer struct {
	Status         int
	Headers        map[string]string
	Body, Says, ID string
}

// TestUnprovenPresetsTakeWhatIsWrittenOfTheirSystems and no other has its file
// beside it: each has at least a create, a request that is none, and a success.
func TestUnprovenPresetsTakeWhatIsWrittenOfTheirSystems(t *testing.T) {
	want := map[string]bool{}
	for _, name := range config.Presets() {
		if config.InUnproven(name) {
			want[name] = true
		}
	}
	for _, row := range readRows[unprovenRow](t, "", "unproven.json") {
		t.Run(row.Preset, func(t *testing.T) {
			if !want[row.Preset] || len(row.Creates) == 0 || len(row.Others) == 0 {
				t.Error("it is no such preset, or has too few samples")
			}
			delete(want, row.Preset)
			r := unprovenRule(t, row.Preset)
			wantCreates(t, r, row.Creates, true)
			wantCreates(t, r, row.Others, false)
			wantJudged(t, r, row.Answers)
		})
	}
	if len(want) > 0 {
		t.Errorf("no samples of %v", slices.Sorted(maps.Keys(want)))
	}
}

func unprovenRule(t *testing.T, preset string) *config.Rule {
	t.Helper()
	c, diags := config.Parse(map[string][]byte{"p.hcl": []byte("backend \"b\" {\n url = \"https://acme.example.test\"\n preset = \"" + preset + "\"\n}\n")}, nil)
	if diags.HasErrors() || !c.Rules[0].RetryMode {
		t.Fatal(diags)
	}
	return c.Rules[0]
}

func wantCreates(t *testing.T, r *config.Rule, rows []clientRow, want bool) {
	t.Helper()
	keys := map[dedup.Key]string{}
	for _, row := range rows {
		req, _ := row.request(t, r.Wants())
		f, err := r.Fault(req)
		is := r.Matches(req) && !errors.Is(err, dedup.ErrNoMatch)
		if is != want || want && err != nil {
			t.Errorf("%s: a create: %v, %v", row.Client, is, err)
		}
		if other := keys[f.Ref.Key]; want && other != "" {
			t.Errorf("%s and %s have one key", row.Client, other)
		}
		keys[f.Ref.Key] = row.Client
	}
}

func wantJudged(t *testing.T, r *config.Rule, answers []unprovenAnswer) {
	t.Helper()
	created := false
	for _, row := range answers {
		a := &dedup.Answer{Status: row.Status, Raw: []byte(row.Body)}
		for name, value := range row.Headers {
			a.Header = append(a.Header, dedup.HeaderField{Name: name, Value: value})
		}
		contentType, has := headerValue(a.Header, "content-type")
		if !has {
			contentType = "application/json"
		}
		if b, err := body.Decode(a.Raw, contentType, "", body.Limits{}); err == nil {
			a.Raw = b.Text
			a.Body, _ = b.Value(r.AnswerWants())
		}
		got := r.Judge(nil, a)
		created = created || got.Says == dedup.SaysCreated
		if string(got.Says) != row.Says || got.Ticket.ID != row.ID {
			t.Errorf("%d %s: %s %q, want %s %q", row.Status, row.Body, got.Says, got.Ticket.ID, row.Says, row.ID)
		}
	}
	if !created {
		t.Error("no answer is a success")
	}
}
