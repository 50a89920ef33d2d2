package dedup_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
)

type vectors struct {
	Identities []struct {
		Name      string
		Fields    []struct{ Name, JSON string }
		Canonical string
		Key       dedup.Key
	}
	RequestKey []struct {
		Name, Method, Path, Body string
		Options                  struct {
			Ignore, Unordered []string
			Bucket            int
			Now               time.Time
		}
		Hashed string
		Key    dedup.Key
	} `json:"request_key"`
	JobKey []struct {
		Name, Type, Data, Hashed string
		Key                      dedup.Key
	} `json:"job_key"`
	WebhookKey []struct {
		Name, Type, ID, Hashed string
		Key                    dedup.Key
	} `json:"webhook_key"`
	ClientKey []struct {
		Name, Value, Namespace, Hashed string
		Key                            dedup.Key
	} `json:"client_key"`
}

func (v vectors) count() int {
	return len(v.Identities) + len(v.RequestKey) + len(v.JobKey) + len(v.WebhookKey) + len(v.ClientKey)
}

const vectorsFile = "testdata/vectors.json"

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVectorsOfIdentities(t *testing.T) {
	for _, v := range readVectors(t).Identities {
		t.Run(v.Name, func(t *testing.T) {
			var fields []dedup.Field
			for _, f := range v.Fields {
				if text, ok := mustReadJSON(t, f.JSON, nil).Text(); ok {
					fields = append(fields, dedup.Field{Name: f.Name, Value: text})
				}
			}
			canonical := dedup.Canonical(fields)
			if canonical != v.Canonical {
				t.Errorf("canonical form %q; want %q", canonical, v.Canonical)
			}
			if key := dedup.KeyOf(canonical); key != v.Key {
				t.Errorf("key %s; want %s", key, v.Key)
			}
		})
	}
}

// A key that is right shows that the recorded string is what was hashed.
func TestVectorsOfKeyFunctions(t *testing.T) {
	all := readVectors(t)
	check := func(name, hashed string, got, want dedup.Key) {
		t.Helper()
		if got != want || hashed != "" && dedup.KeyOf(hashed) != want {
			t.Errorf("%s: key %s; want %s, that of %q", name, got, want, hashed)
		}
	}
	for _, v := range all.RequestKey {
		parts := dedup.RequestParts{Method: v.Method, Path: v.Path, Body: []byte(v.Body)}
		check(v.Name, v.Hashed, dedup.RequestKey(parts, dedup.RequestKeyOptions(v.Options)), v.Key)
	}
	for _, v := range all.JobKey {
		check(v.Name, v.Hashed, dedup.JobKey(v.Type, []byte(v.Data)), v.Key)
	}
	for _, v := range all.WebhookKey {
		key, ok := dedup.WebhookKey(v.Type, v.ID)
		if ok != (v.Key != "") {
			t.Errorf("%s: there is a key: %v", v.Name, ok)
		}
		check(v.Name, v.Hashed, key, v.Key)
	}
	for _, v := range all.ClientKey {
		key, ok := dedup.ClientKey(v.Value, v.Namespace)
		if ok != (v.Key != "") {
			t.Errorf("%s: there is a key: %v", v.Name, ok)
		}
		check(v.Name, v.Hashed, key, v.Key)
	}
}

// Another program, with nothing but a hash function, finds the same keys.
func TestVectorsInPython(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "python3", "-I", "testdata/check_vectors.py", vectorsFile).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := strings.TrimSpace(string(out)), strconv.Itoa(readVectors(t).count()); got != want {
		t.Errorf("checked %s vectors of %s", got, want)
	}
}
