package main_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// planted are secrets as clients send them; none of them may be found anywhere
// but at the ticket system.
var planted = map[string]string{
	"authorization": "Basic cGxhbnRlZDpzZWNyZXQtYmFzaWM=",
	"cookie":        "glide_session=planted-secret-cookie",
	"x-api-key":     "planted-secret-header",
	"query":         "planted-secret-query",
	"path":          "planted-secret-path",
	"body":          "planted-secret-body",
	"answer":        "planted-secret-set-cookie",
}

// TestNoSecretIsKept: after creates, duplicates, lost answers and what the
// ticket system refuses for now, no secret of a request stands in the store,
// the dead letters, the logs of both processes, the metrics or the bypass log,
// which names a create that passed while the filter stood still.
func TestNoSecretIsKept(t *testing.T) {
	d := newDesk(t)
	d.answers = func(w http.ResponseWriter, element, id string) bool {
		w.Header().Set("Set-Cookie", "session="+planted["answer"])
		switch {
		case strings.HasPrefix(element, "lost"):
			panic(http.ErrAbortHandler)
		case strings.HasPrefix(element, "busy"):
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	}
	s := newSidecar(t, d, `lookup = null
  heal_within = "0"
  resend      = 0
  match       = { path = "/(?P<base>[^/]+)/api/now/table/incident" }
  credential  = { query = ["access"], body = ["auth.password"], path = ["/([^/]+)/api/now/table/incident"] }`, "")
	s.verbose = true
	s.start()
	client := newClient(t)
	for _, element := range []string{"core-1", "core-1", "lost-1", "lost-1", "busy-1"} {
		s.postSecrets(client, element)
	}
	s.freeze()
	s.postSecrets(client, "unguarded-1")
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "what passed unguarded", func() bool { return s.metric("oneticket_bypassed_total") == 1 })
	waitFor(t, "the dead letters", func() bool { return s.metric("oneticket_dead_letters") >= 2 })
	shown := s.command("deadletter", "list", "--json")
	places := map[string]string{"the log of oneticket": s.log.String(), "deadletter list": shown, "/metrics": s.get("/metrics"), "/ready": s.get("/ready")}
	s.kill() // what is only in memory is gone; what is on the disk is not
	for path, text := range filesUnder(t, filepath.Join(s.dir, "state")) {
		places[path] = text
	}
	// What may be kept is found, so what may not would be.
	for name, text := range map[string]string{"oneticket.db": `"sys_id":`, "deadletters.db": "lost-1"} {
		kept := false
		for path, content := range places {
			kept = kept || strings.HasPrefix(filepath.Base(path), name) && strings.Contains(content, text)
		}
		if !kept {
			t.Errorf("%s is not found in %s", text, name)
		}
	}
	for place, text := range places {
		for kind, secret := range planted {
			if strings.Contains(text, secret) || strings.Contains(text, strings.TrimPrefix(secret, "Basic ")) {
				t.Errorf("the secret of the %s stands in %s", kind, place)
			}
		}
	}
}

// postSecrets sends a create with a secret in every place.
func (s *sidecar) postSecrets(client *http.Client, element string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"cmdb_ci":%q,"category":"link","urgency":"2","auth":{"password":%q}}`, element, planted["body"])
	url := "http://" + s.listen + "/" + planted["path"] + "/api/now/table/incident?access=" + planted["query"]
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, name := range []string{"authorization", "cookie", "x-api-key"} {
		req.Header.Set(name, planted[name])
	}
	res, err := client.Do(req)
	if err != nil {
		return // a lost answer
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // as much of it as there is
}

func (s *sidecar) get(path string) string {
	s.t.Helper()
	res, err := http.Get("http://" + s.admin + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// filesUnder reads every file of a folder.
func filesUnder(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
