package pgstore_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
	"oneticket/dedup/storetest"
)

// granted are the statements that the package's documentation lists.
func granted(t testing.TB, schema, role string) string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if statement, ok := strings.CutPrefix(line, "//\tGRANT"); ok {
			found = append(found, "GRANT"+strings.NewReplacer("SCHEMA oneticket", "SCHEMA "+fmt.Sprintf("%q", schema), "TO role", "TO "+role).Replace(statement))
		}
	}
	if len(found) != 3 {
		t.Fatalf("only %q are documented", found)
	}
	return strings.Join(found, "\n")
}

// A role that may only run calls, in a schema that another one has made, is
// enough for all of them.
func TestTheDocumentedRightsAreEnough(t *testing.T) {
	s := pgtest.Shared(t)
	s.Do(t, "CREATE ROLE runner LOGIN")
	url := strings.Replace(s.SocketURL(), "postgres@", "runner@", 1)
	storetest.Run(t, harness(s, pgstore.Options{URL: url}, func(t testing.TB, schema string) {
		open(t, pgstore.Options{URL: s.SocketURL(), Schema: schema})
		s.Do(t, fmt.Sprintf("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %q FROM PUBLIC", schema))
		s.Do(t, granted(t, schema, "runner"))
	}))
}
