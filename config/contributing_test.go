package config_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"oneticket/config"
)

// TestWhatContributingShowsOfAPresetIsOne: the file that it begins with, and the
// samples.
func TestWhatContributingShowsOfAPresetIsOne(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _ := strings.Cut(string(text), "## A preset, step by step")
	shown := regexp.MustCompile("(?s)```(hcl|json)\n(.*?)```").FindAllStringSubmatch(steps, -1)
	if len(shown) != 3 {
		t.Fatalf("%d examples", len(shown))
	}
	preset := shown[0][2]
	if formatted, diags := config.Format([]byte(preset), "CONTRIBUTING.md"); diags.HasErrors() || string(formatted) != preset {
		t.Errorf("the file is not in form; it is:\n%s%s", formatted, diags)
	}
	settings := regexp.MustCompile(`(?m)^(default|unproven) .*$`).ReplaceAllString(preset, "")
	identity := regexp.MustCompile(`(?ms)^#   (identity = .*?)^#   \}`).FindStringSubmatch(preset)
	r := parse(t, "backend \"b\" { url = \"https://acme.example.test\" }\nrule \"r\" {\n backend = \"b\"\n"+settings+strings.ReplaceAll(identity[1], "#   ", "")+"}\n}").Rules[0]

	var requests []clientRow
	var answers []answerRow
	for i, rows := range []any{&requests, &answers} {
		d := json.NewDecoder(strings.NewReader(shown[i+1][2]))
		d.DisallowUnknownFields()
		if err := d.Decode(rows); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range requests {
		if req, _ := row.request(t, r.Wants()); !r.Matches(req) {
			t.Errorf("%s is no create", row.Client)
		}
		sameFault(t, r, &row)
	}
	if got := r.Judge(nil, answers[0].decoded(t)); got.Ticket.ID != "7" {
		t.Errorf("%+v", got)
	}
	if got := r.ReadAnswer(answers[1].decoded(t)); got.Answered {
		t.Errorf("%+v", got)
	}
	if got := r.Resolved(answers[2].asked(t, nil), answers[2].decoded(t)); len(got) != 1 || got[0] != "7" {
		t.Errorf("%q", got)
	}
}
