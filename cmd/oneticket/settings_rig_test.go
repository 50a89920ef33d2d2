package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newRulesSidecar is a sidecar in front of a ServiceNow office, with a rule for
// each name: it takes the elements that begin with the name and a hyphen.
func newRulesSidecar(t *testing.T, o *ticketOffice, backend, top string, rules map[string]string) *sidecar {
	dir := t.TempDir()
	s := &sidecar{t: t, dir: dir, config: filepath.Join(dir, "oneticket.hcl"), listen: freeAddress(t), admin: freeAddress(t)}
	var b strings.Builder
	fmt.Fprintf(&b, "state_dir = %q\nadmin = %q\nbackend \"servicenow\" {\n url = %q\n listen = %q\n timeout = \"5s\"\n %s\n}\n%s\n",
		filepath.Join(dir, "state"), s.admin, o.URL, s.listen, backend, top)
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		fmt.Fprintf(&b, "rule %q {\n backend = \"servicenow\"\n match = { when = startswith(body.cmdb_ci, \"%s-\") }\n settle = \"1s\"\n %s\n}\n", name, name, rules[name])
	}
	if err := os.WriteFile(s.config, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// inFault is a rule in fault mode with more settings.
func inFault(settings string) string {
	return "identity = " + identities["servicenow"] + "\n " + settings
}
