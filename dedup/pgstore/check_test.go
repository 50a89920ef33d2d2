package pgstore_test

import (
	"strings"
	"testing"

	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

func TestSettingsThatMayLoseRecordsAreTold(t *testing.T) {
	s := pgtest.For(t, "fsync=on", "full_page_writes=on")
	s.Do(t, "CREATE ROLE checked LOGIN SUPERUSER")
	url := strings.Replace(s.URL(), "postgres@", "checked@", 1)
	for name, c := range map[string]struct {
		set  string
		want []string // what each warning is about, in order
	}{
		"nothing to say":      {"", nil},
		"not synchronous":     {"synchronous_commit = off", []string{"synchronous_commit is off"}},
		"no writes":           {"default_transaction_read_only = on", []string{"this role or database takes no writes"}},
		"another isolation":   {"default_transaction_isolation = 'serializable'", []string{"default_transaction_isolation is serializable"}},
		"local, nobody there": {"synchronous_commit = local", nil},
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t, pgstore.Options{URL: s.URL()})
			s.Do(t, "ALTER ROLE checked RESET ALL")
			if c.set != "" {
				s.Do(t, "ALTER ROLE checked SET "+c.set)
				store, _ = pgstore.New(pgstore.Options{URL: url})
				defer store.Close()
			}
			told(t, store, c.want)
		})
	}
	s.Set("fsync=off")
	s.Kill()
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	told(t, open(t, pgstore.Options{URL: s.URL()}), []string{"fsync is off and full_page_writes is off"})
}

func told(t *testing.T, store *pgstore.Store, want []string) {
	t.Helper()
	warnings, err := store.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != len(want) {
		t.Fatalf("warnings %v, want %q", warnings, want)
	}
	for i, w := range warnings {
		if !strings.HasPrefix(w.Found, want[i]) || w.Lost == "" || w.Set == "" {
			t.Errorf("%v, want %q", w, want[i])
		}
	}
}
