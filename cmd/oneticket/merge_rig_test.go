package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newOfficeSidecar is a sidecar in front of the office; settings goes into its
// rule, credentials to its backend.
func newOfficeSidecar(t *testing.T, o *ticketOffice, credentials, settings string) *sidecar {
	dir := t.TempDir()
	s := &sidecar{t: t, dir: dir, config: filepath.Join(dir, "oneticket.hcl"), listen: freeAddress(t), admin: freeAddress(t)}
	text := fmt.Sprintf(`
state_dir = %q
admin     = %q
backend %q {
  url     = %q
  listen  = %q
  timeout = "5s"
  %s
}
rule "faults" {
  backend  = %[3]q
  identity = %[7]s
  settle   = "1s"
  %[8]s
}
`, filepath.Join(dir, "state"), s.admin, o.system, o.URL, s.listen, credentials, identities[o.system], settings)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// fire is one create of the office's system.
func (s *sidecar) fire(o *ticketOffice, c *http.Client, element, severity, title string) answer {
	path, body := o.createOf(element, severity, title)
	return s.send(c, path, body)
}

func (s *sidecar) send(c *http.Client, path, body string) answer {
	s.t.Helper()
	return s.sendAs(c, clientUser, path, body)
}

func (s *sidecar) sendAs(c *http.Client, user, path, body string) answer {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+s.listen+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", user)
	res, err := c.Do(req)
	if err != nil {
		s.t.Error(err)
		return answer{}
	}
	defer res.Body.Close()
	a, err := answerIn(res)
	if err != nil {
		s.t.Error(err)
	}
	return a
}

// decision is what the answer says of itself, without the key.
func (a answer) decision() string {
	decision, _, _ := strings.Cut(a.header.Get("Oneticket-Decision"), "; key")
	return decision
}
