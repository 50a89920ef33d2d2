package config_test

import (
	"strings"
	"testing"

	"oneticket/config"
)

func TestMistakesInCallsAreReported(t *testing.T) {
	for name, c := range map[string]struct{ rule, want string }{
		"no path":                     {`read = { open = body.open }`, "read has no path"},
		"no open":                     {`read = { path = "/t/${ticket.id}" }`, "read has no open"},
		"a lower-case method":         {`read = { method = "get", path = "/t", open = body.open }`, "this is no method"},
		"a query in the path":         {`read = { path = "/t?id=${ticket.id}", open = body.open }`, "this is no path"},
		"no slash":                    {`read = { path = "t/${ticket.id}", open = body.open }`, "this is no path"},
		"a path that is one value":    {`read = { path = "${ticket.location}", open = body.open }`, "this is no path"},
		"a path out of a function":    {`read = { path = format("/t/%s", ticket.id), open = body.open }`, "this is no path"},
		"a blank in the path":         {`read = { path = "/t x/${ticket.id}", open = body.open }`, "this is no path"},
		"a name that is not there":    {`read = { path = "/t/${token}", open = body.open }`, `unknown name "token"`},
		"the answer in the request":   {`read = { path = "/t/${status}", open = body.open }`, `unknown name "status"`},
		"the request in the answer":   {`read = { path = "/t/${ticket.id}", open = query.open }`, `unknown name "query"`},
		"a header of the sender":      {`update = { path = "/t/${ticket.id}", headers = { Host = "evil" } }`, `"host" is no header of a call`},
		"a header of the credentials": {`update = { path = "/t/${ticket.id}", headers = { Authorization = "x" } }`, `"authorization" is no header of a call`},
		"an unknown member":           {`update = { path = "/t/${ticket.id}", pth = "x" }`, `unknown member "pth" of update`},
		"no status":                   {`update = { path = "/t/${ticket.id}", success = [700] }`, "this is no status"},
		"no object":                   {`update = "x"`, "update is an object"},
		"a computed name in a body":   {`update = { path = "/t/${ticket.id}", body = { (body.a) = 1 } }`, "a computed name"},
		"a look-up without a token":   {`lookup = { path = "/t", tickets = body.t, id = item.id, open = item.o }`, "lookup has no token"},
		"a reopening without a path":  {`reopen = { body = { state = "2" } }`, "reopen has no path"},
		"a merge without a path":      {`merge_link = { body = { to = survivor.id } }`, "merge_link has no path"},
		"a request in a merge":        {`merge_close = { path = "/t/${ticket.id}", body = { note = body.title } }`, `unknown name "body"`},
		"a token in a merge":          {`merge_close = { path = "/t/${ticket.id}/${token}" }`, `unknown name "token"`},
		"resolve is no list":          {`resolve = { method = "PUT" }`, "resolve is a list"},
		"a resolve without a path":    {`resolve = [{ method = "PUT" }]`, "resolve has no path"},
		"a resolve without an id":     {`resolve = [{ method = "PUT", path = "/t/[0-9]+" }]`, `the path has no group "id"`},
		"a resolve without a method":  {`resolve = [{ path = "/t/(?P<id>[0-9]+)" }]`, "resolve needs a method"},
		"a bad pattern":               {`resolve = [{ method = "PUT", path = "/t/(?P<id>[0-9+)" }]`, "bad regular expression"},
		"a form that there is not":    {`token = { form = "prepend" }`, "token.form cannot be this"},
		"a bad pattern of a token":    {`token = { pattern = "(" }`, "bad regular expression"},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := config.Parse(map[string][]byte{"oneticket.hcl": []byte(`backend "desk" { url = "https://desk.example.test" }
rule "r" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
  ` + c.rule + `
}`)}, nil)
			if !diags.HasErrors() || !strings.Contains(diags.String(), c.want) {
				t.Errorf("want %q in\n%s", c.want, diags)
			}
		})
	}
}
