package config_test

import (
	"strings"
	"testing"

	"oneticket/config"
	"oneticket/dedup"
)

const bulkRule = `
backend "jira" { url = "https://acme.example.test" }
rule "issues" {
  backend  = "jira"
  match    = { method = "POST", path = "/issue(/bulk)?" }
  for_each = body.issueUpdates
  identity = { host = each.value.fields.host, check = each.value.fields.check }
  ticket   = { items = body.issues, id = item.key, failed = body.errors, number = item.failedElementNumber, wrapper = "{\"issues\":[]}" }
}
`

func TestEachCreateOfABulkHasItsOwnFault(t *testing.T) {
	r := parse(t, bulkRule).Rules[0]
	one := `{"fields":{"host":"a","check":"ping","other":1}}`
	text := `{"issueUpdates":[` + one + `,{"fields":{"host":"b","check":"ping"}}]}`
	whole, err := dedup.ReadJSON([]byte(text), r.Wants())
	if err != nil {
		t.Fatal(err)
	}
	single := request(t, one)
	want, err := r.Fault(single)
	if err != nil {
		t.Fatal(err)
	}
	req := *single
	req.Body = whole
	var keys []dedup.Key
	for i := range whole.Member("issueUpdates").Items {
		req.Each = &whole.Member("issueUpdates").Items[i]
		f, err := r.Fault(&req)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, f.Ref.Key)
	}
	if len(keys) != 2 || keys[0] != want.Ref.Key || keys[1] == keys[0] {
		t.Errorf("the keys are %q; alone it is %q", keys, want.Ref.Key)
	}
}

func TestTheItemOfAnAnswerNamesTheTicket(t *testing.T) {
	r := parse(t, bulkRule).Rules[0]
	text := `{"issues":[{"key":"OPS-1","self":"x"}],"errors":[{"failedElementNumber":1,"status":400}]}`
	v, err := dedup.ReadJSON([]byte(text), r.AnswerWants())
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := v.Member("errors").Item(0).Member("failedElementNumber").Text(); n != "1" || !ok {
		t.Errorf("the number is %q", n)
	}
	item := v.Member("issues").Item(0)
	for name, c := range map[string]struct {
		answer dedup.Answer
		want   string
	}{
		"of several": {dedup.Answer{Status: 201, Body: v, Item: &item}, "OPS-1"},
		"of one":     {dedup.Answer{Status: 201, Body: item}, "OPS-1"},
		"not there":  {dedup.Answer{Status: 201, Body: item, Item: &dedup.Value{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.Judge(nil, &c.answer).Ticket.ID; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestAnIdentityOfSingleCreatesLeavesSeveralWhole: the preset takes requests
// apart, and a rule that was written for single ones still means these.
func TestAnIdentityOfSingleCreatesLeavesSeveralWhole(t *testing.T) {
	for _, setting := range []string{`identity = { host = body.fields.host, check = body.fields.check }`, `key = client_key(headers.x, "n")`} {
		r := parse(t, `backend "jira" { url = "https://acme.example.test" }
rule "issues" {
  backend = "jira"
  `+setting+`
}`).Rules[0]
		if r.Each == nil || r.Each.Answer != nil {
			t.Errorf("%s: %+v", setting, r.Each)
		}
	}
	if r := parse(t, `backend "jira" { url = "https://acme.example.test" }`).Rules[0]; r.Each == nil || r.Each.Answer == nil {
		t.Errorf("a bare backend: %+v", r.Each)
	}
}

func TestWhatForEachCannotBe(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no path":            {`body.issueUpdates`, `[for x in body.issueUpdates : x]`, "for_each is a path"},
		"an item":            {`body.issueUpdates`, `body.issueUpdates[0]`, "for_each is a path"},
		"of a header":        {`body.issueUpdates`, `headers.x`, "for_each is a path"},
		"an answer's path":   {`items = body.issues`, `items = lower(body.issues)`, "ticket.items is a path"},
		"half a failure":     {`number = item.failedElementNumber`, `number = null`, "failed and number go together"},
		"the wrapper":        {`"{\"issues\":[]}"`, `"{"`, "ticket.wrapper is no JSON"},
		"identity of all":    {`{ host = each.value.fields.host, check = each.value.fields.check }`, `{ host = body.host, check = optional(each.value.check) }`, "identity reads nothing of each.value"},
		"key of all":         {`identity = { host = each.value.fields.host, check = each.value.fields.check }`, `key = client_key(headers.x, "n")`, "key reads nothing of each.value"},
		"key of all, or not": {`identity = { host = each.value.fields.host, check = each.value.fields.check }`, `key = try(client_key(headers.x, "n"), request_key())`, "key reads nothing of each.value"},
		"each alone":         {`each.value.fields.host`, `each.host`, "each has one member"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(bulkRule, c.old, c.new, 1)
			_, diags := config.Parse(map[string][]byte{"oneticket.hcl": []byte(text)}, func(string) (string, bool) { return "", false })
			if !strings.Contains(diags.Error(), c.want) {
				t.Errorf("got %q, want %q", diags.Error(), c.want)
			}
		})
	}
}
