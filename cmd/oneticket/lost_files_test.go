package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAStoreFileThatIsTakenAwayIsNoticed: the process goes on with what it
// knows, since an empty file would forget every open fault, and says so.
func TestAStoreFileThatIsTakenAwayIsNoticed(t *testing.T) {
	for _, name := range []string{"oneticket.db", "deadletters.db"} {
		for _, how := range []string{"removed", "replaced"} {
			t.Run(name+" "+how, func(t *testing.T) {
				d := newDesk(t)
				s := newSidecar(t, d, "", "")
				s.start()
				client := newClient(t)
				ticket := s.post(client, fault("core-1", 0)).ticket()
				if said := s.degraded(t); len(said) > 0 {
					t.Fatalf("degraded from the beginning: %q", said)
				}
				path := filepath.Join(s.dir, "state", name)
				if err := os.Rename(path, path+".away"); err != nil {
					t.Fatal(err)
				}
				if how == "replaced" {
					if err := os.WriteFile(path, nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if said := strings.Join(s.degraded(t), "\n"); !strings.Contains(said, path+" was removed or replaced") {
					t.Errorf("/ready says %q", said)
				}
				waitFor(t, "the log to say so", func() bool { return strings.Contains(s.log.String(), "a file is gone") })
				for i := range 5 {
					if a := s.post(client, fault("core-1", 1+i)); a.ticket() != ticket || !a.replayed {
						t.Errorf("a re-fire saw %d %q, want ticket %s", a.status, a.body, ticket)
					}
				}
				if a := s.post(client, fault("core-2", 0)); a.status != 201 {
					t.Errorf("another fault saw %d %q", a.status, a.body)
				}
				if a := s.post(client, fault("core-2", 1)); !a.replayed {
					t.Errorf("its re-fire saw %d %q", a.status, a.body)
				}
				if n := d.creates.Load(); n != 2 {
					t.Errorf("%d tickets for two faults", n)
				}
			})
		}
	}
}
