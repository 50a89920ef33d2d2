package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pieces of what `oneticket envoy --for static` prints.
func filterOf(pieces tree) tree {
	return pieces["http_filters"].([]any)[0].(tree)["typed_config"].(tree)
}

func modesOf(pieces tree) tree { return filterOf(pieces)["processing_mode"].(tree) }

func guardedRoute(pieces tree) tree {
	return pieces["virtual_hosts"].([]any)[0].(tree)["routes"].([]any)[0].(tree)
}

// TestDoctorNamesWhatIsWrong: Envoys that are right but for one thing, and one
// that is right.
func TestDoctorNamesWhatIsWrong(t *testing.T) {
	for _, envoy := range []struct {
		name  string
		spoil func(pieces tree)
		fails []string // exactly these checks
		says  string
	}{
		{"a right one", func(tree) {}, nil, ""},
		{"request headers skipped", func(p tree) { modesOf(p)["request_header_mode"] = "SKIP" }, []string{"header mode"}, "request headers are not sent"},
		{"bodies streamed", func(p tree) {
			modesOf(p)["request_body_mode"], modesOf(p)["response_body_mode"] = "STREAMED", "STREAMED"
		}, []string{"body mode"}, "STREAMED"},
		{"a small buffer", func(p tree) { p["listener"].(tree)["per_connection_buffer_limit_bytes"] = 64 << 10 },
			[]string{"buffer for requests", "buffer for answers"}, "413"},
		{"retries on 5xx", func(p tree) { guardedRoute(p)["route"].(tree)["retry_policy"].(tree)["retry_on"] = "5xx" },
			[]string{"retries"}, "503 was sent"},
		{"no attributes", func(p tree) { delete(filterOf(p), "request_attributes"); delete(filterOf(p), "response_attributes") },
			[]string{"attributes"}, "response.code_details"},
		{"no metadata", func(p tree) { delete(filterOf(p), "metadata_options") }, []string{"metadata"}, `"oneticket" is dropped`},
		{"a message_timeout of 200 ms", func(p tree) { filterOf(p)["message_timeout"] = "0.2s" }, []string{"message_timeout"}, "Envoy gave up"},
		{"no max_message_timeout", func(p tree) { filterOf(p)["message_timeout"] = "2s"; delete(filterOf(p), "max_message_timeout") }, []string{"max_message_timeout"}, "asked for 1m0s"},
		{"no access log", func(p tree) { p["access_log"] = p["access_log"].([]any)[:1] }, []string{"access log"}, "no entry"},
		{"no mode override", func(p tree) { delete(filterOf(p), "allow_mode_override") }, []string{"mode override"}, "got it"},
		{"clients that may ask for retries", func(p tree) {
			manager := p["http_connection_manager"].(tree)
			delete(manager, "early_header_mutation_extensions")
			manager["internal_address_config"] = tree{"cidr_ranges": []any{tree{"address_prefix": "10.0.0.0", "prefix_len": 8}}}
		},
			[]string{"retries that a client asks for"}, "x-envoy-retry-on"},
		{"a closed failure mode", func(p tree) {
			guardedRoute(p)["typed_per_filter_config"].(tree)["envoy.filters.http.ext_proc"].(tree)["overrides"].(tree)["failure_mode_allow"] = false
		}, []string{"failure mode"}, "closed: the client saw 503"},
		{"the filter off", func(p tree) { delete(guardedRoute(p), "typed_per_filter_config") }, []string{"filter"}, "was not asked"},
	} {
		t.Run(envoy.name, func(t *testing.T) {
			t.Parallel()
			found, status := examine(t, envoy.name == "a right one", envoy.spoil)
			var fails []string
			for _, f := range found {
				if f.Verdict == "FAIL" {
					fails = append(fails, f.Check)
					if f.Why == "" || f.Set == "" {
						t.Errorf("%s: it does not say why, or what to set", f.Check)
					}
				}
			}
			if strings.Contains(envoy.name, "200 ms") {
				// So little time is over on a busy machine before other answers too.
				fails = slices.DeleteFunc(fails, func(f string) bool { return f != "message_timeout" })
			}
			if !slices.Equal(fails, envoy.fails) {
				t.Errorf("wrong are %q, want %q, in %+v", fails, envoy.fails, found)
			}
			if want := min(len(envoy.fails), 1); status != want {
				t.Errorf("exit status %d, want %d", status, want)
			}
			if envoy.says != "" && !slices.ContainsFunc(found, func(f finding) bool { return f.Verdict == "FAIL" && strings.Contains(f.Found, envoy.says) }) {
				t.Errorf("none says %q: %+v", envoy.says, found)
			}
		})
	}
}

// A finding is a line of doctor --json.
type finding struct{ Check, Verdict, Found, Why, Set string }

// examine runs doctor against an Envoy that was configured by what is printed,
// and then spoiled. What is believed of its patience is what is printed, or
// less, to be sat out sooner.
func examine(t *testing.T, printed bool, spoil func(tree)) ([]finding, int) {
	t.Helper()
	scratch := freeAddress(t)
	believed := "message_timeout = \"2s\"\n max_message_timeout = \"60s\"\n"
	if printed {
		believed = ""
	}
	s := newSidecar(t, &desk{Server: &httptest.Server{URL: "http://" + scratch}}, "", "envoy {\n retries = \"safe\"\n "+believed+"}\n")
	if err := os.Mkdir(filepath.Join(s.dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	pieces := parseTree(t, s.print("static", way{}))
	spoil(pieces)
	runEnvoy(t, embed(pieces, s.listen))
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(binary, "doctor", "-c", s.config, "--json", "--backend-listen", scratch, "http://"+s.listen+"/api/now/table/incident")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err = cmd.Run()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	var found []finding
	if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
		t.Fatalf("%v in %s; %s", err, &stdout, &stderr)
	}
	return found, cmd.ProcessState.ExitCode()
}

// TestDoctorSendsNothingToARealTicketSystem: when the route still leads there,
// it gets one request, which is no create.
func TestDoctorSendsNothingToARealTicketSystem(t *testing.T) {
	d := newDesk(t)
	s := newSidecar(t, d, "", "")
	if err := os.Mkdir(filepath.Join(s.dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	runEnvoy(t, embed(parseTree(t, s.print("static", way{})), s.listen))
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "doctor", "-c", s.config, "--backend-listen", freeAddress(t), "http://"+s.listen+"/api/now/table/incident").Output()
	if err == nil || !strings.Contains(string(out), "FAIL route: the request did not reach") {
		t.Errorf("%v: %s", err, out)
	}
	if got := d.creates.Load(); got != 1 || !strings.HasPrefix(string(d.bodies[0]), "a request of oneticket doctor") {
		t.Errorf("%d requests reached the ticket system: %q", got, d.bodies)
	}
}
