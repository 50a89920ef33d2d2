package deadletter_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
)

const planted = "hunter2"

// holding is a create with a secret in every place that can hold one.
func holding() deadletter.Letter {
	l := letter(1)
	l.Path = "/api/v2/alerts?api_key=" + planted + "&sysparm_limit=1&sig=" + planted + "&acc%65ss_token=" + planted + "&tenant=" + planted + "&empty_token="
	l.Header = []dedup.HeaderField{
		{Name: "Content-Type", Value: "application/json"},
		{Name: "user-agent", Value: "nagios/4"},
		{Name: "idempotency-key", Value: "alarm-17"},
		{Name: "x-event-source", Value: "ring-7"},
		{Name: "x-debug", Value: "on"},
	}
	for _, name := range []string{"authorization", "Proxy-Authorization", "cookie", "x-api-key", "X-Auth-Token",
		"x-csrf", "x-xsrf-header", "x-session-id", "x-client-secret", "x-amz-signature", "x-passwd", "x-user-credential", "x-named"} {
		l.Header = append(l.Header, dedup.HeaderField{Name: name, Value: planted})
	}
	l.Body = []byte(`{"routing_key":"` + planted + `","note":"hunter one","auth" : {"user":"bot","password":"` + planted + `"},
 "list":[{"pin":1,"x":"a"},{"pin":"` + planted + `"}],"routing_key":"` + planted + `", "pass\u0077ord2":"` + planted + `", "n":1.50 }`)
	return l
}

var named = deadletter.Secrets{
	Header: []string{"x-named"},
	Query:  []string{"tenant"},
	Body:   []string{"routing_key", "auth", "auth.password", "list.pin", "password2", "absent"},
}

func TestNoSecretOfTheRequestIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	box := open(t, deadletter.Options{Path: path})
	l := deadletter.Clean(holding(), []string{"x-event-source", "x-api-key", "x-named"}, named)
	id := put(t, box, l)
	kept := get(t, box, id)

	wantHeader := []dedup.HeaderField{
		{Name: "content-type", Value: "application/json"}, {Name: "user-agent", Value: "nagios/4"},
		{Name: "idempotency-key", Value: "alarm-17"}, {Name: "x-event-source", Value: "ring-7"},
	}
	if !slices.Equal(kept.Header, wantHeader) {
		t.Errorf("kept are %v", kept.Header)
	}
	if want := "/api/v2/alerts?api_key=oneticket-redacted&sysparm_limit=1&sig=oneticket-redacted&acc%65ss_token=oneticket-redacted&tenant=oneticket-redacted&empty_token="; kept.Path != want {
		t.Errorf("the path is\n%s, want\n%s", kept.Path, want)
	}
	if want := `{"routing_key":"oneticket-redacted","note":"hunter one","auth" : "oneticket-redacted",
 "list":[{"pin":"oneticket-redacted","x":"a"},{"pin":"oneticket-redacted"}],"routing_key":"oneticket-redacted", "pass\u0077ord2":"oneticket-redacted", "n":1.50 }`; string(kept.Body) != want {
		t.Errorf("the body is\n%s, want\n%s", kept.Body, want)
	}
	for _, what := range []string{"header.authorization", "header.cookie", "header.x-named", "query.api_key", "query.access_token", "body.routing_key", "body.auth", "body.list.pin"} {
		if !slices.Contains(kept.Redacted, what) {
			t.Errorf("%s is not said to be redacted: %v", what, kept.Redacted)
		}
	}
	inNoFile(t, path)
}

// TestACarelessCallerStoresNoSecretByName: a letter that was not cleaned.
func TestACarelessCallerStoresNoSecretByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	box := open(t, deadletter.Options{Path: path})
	l := holding()
	l.Path = "/api?api_key=" + planted
	l.Header = slices.DeleteFunc(l.Header, func(f dedup.HeaderField) bool { return f.Name == "x-named" })
	l.Body = []byte("{}")
	put(t, box, l)
	inNoFile(t, path)
}

func inNoFile(t *testing.T, path string) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(planted)) {
			t.Errorf("the secret is in %s", filepath.Base(name))
		}
	}
}

func TestBodiesWithANamedSecret(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	squeezed := func(w io.WriteCloser, buffer *bytes.Buffer, text string) []byte {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buffer.Bytes()
	}
	gzipped := func(text string) []byte { var b bytes.Buffer; return squeezed(gzip.NewWriter(&b), &b, text) }
	zlibbed := func(text string) []byte { var b bytes.Buffer; return squeezed(zlib.NewWriter(&b), &b, text) }
	without := gzipped(`{"a":1}`)
	for _, c := range []struct {
		name, contentType, coding string
		body                      []byte
		want                      []byte
		redacted                  []string
		wantCoding                bool
	}{
		{"JSON under any content type", "text/plain", "", []byte(`{"password":"hunter2"}`), []byte(`{"password":"oneticket-redacted"}`), []string{"body.password"}, false},
		{"JSON with a byte order mark", "", "", []byte("\xEF\xBB\xBF{\"password\":1}"), []byte("\xEF\xBB\xBF{\"password\":\"oneticket-redacted\"}"), []string{"body.password"}, false},
		{"form", form, "", []byte("a=1&pass%77ord=hunter2&b=2"), []byte("a=1&pass%77ord=oneticket-redacted&b=2"), []string{"body.password"}, false},
		{"gzip", "", "gzip", gzipped(`{"password":"hunter2"}`), []byte(`{"password":"oneticket-redacted"}`), []string{"body.password"}, false},
		{"deflate", "", "deflate", zlibbed(`{"password":"hunter2"}`), []byte(`{"password":"oneticket-redacted"}`), []string{"body.password"}, false},
		{"gzip without it stays as it came", "", "gzip", without, without, nil, true},
		{"null is no secret", "", "", []byte(`{"password":null}`), []byte(`{"password":null}`), nil, false},
		{"what cannot be read is not kept", "", "", []byte(`{"password":"hunter2"`), nil, []string{"body"}, false},
		{"nor what cannot be inflated", "", "gzip", []byte(`{"password":"hunter2"}`), nil, []string{"body"}, true},
		{"nor what is in an unknown coding", "", "br", []byte(`hunter2`), nil, []string{"body"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := letter(1)
			l.Body, l.Header = c.body, nil
			if c.contentType != "" {
				l.Header = append(l.Header, dedup.HeaderField{Name: "content-type", Value: c.contentType})
			}
			if c.coding != "" {
				l.Header = append(l.Header, dedup.HeaderField{Name: "content-encoding", Value: c.coding})
			}
			before := bytes.Clone(c.body)
			got := deadletter.Clean(l, nil, deadletter.Secrets{Body: []string{"password"}})
			if !bytes.Equal(got.Body, c.want) || !slices.Equal(got.Redacted, c.redacted) || got.Length != len(c.want) {
				t.Errorf("got %q (%d), redacted %v", got.Body, got.Length, got.Redacted)
			}
			if _, has := got.HeaderValue("content-encoding"); has != c.wantCoding {
				t.Errorf("has a content coding: %v", has)
			}
			if !bytes.Equal(before, c.body) {
				t.Error("the caller's body was changed")
			}
		})
	}
}

func TestCleaningTwiceIsCleaningOnce(t *testing.T) {
	once := deadletter.Clean(holding(), []string{"x-event-source"}, named)
	twice := deadletter.Clean(once, []string{"x-event-source"}, named)
	if !reflect.DeepEqual(once, twice) {
		t.Errorf("once  %+v\ntwice %+v", once, twice)
	}
}

// FuzzClean: whatever the body, a named secret is not in what is left, and
// nothing is left of a body that cannot be read.
func FuzzClean(f *testing.F) {
	f.Add(`{"a":1,"b":[`, `]}`)
	f.Add(`[{"x":`, `},{}]`)
	f.Add(`{"password":[1,{"password":`, `}]}`)
	f.Add("\xEF\xBB\xBF", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		l := letter(1)
		l.Header = nil
		l.Body = []byte(before + `{"note":"n","password":"` + planted + `"}` + after)
		if strings.Contains(before+after, planted) {
			return
		}
		got := deadletter.Clean(l, nil, deadletter.Secrets{Body: []string{"password"}})
		if got.Body == nil {
			return
		}
		// The member may stand below another one, and then has another path.
		if _, err := dedup.ReadJSON(got.Body, nil); err != nil {
			t.Errorf("%q became %q: %v", l.Body, got.Body, err)
		}
		if before == "" && bytes.Contains(got.Body, []byte(planted)) {
			t.Errorf("%q became %q", l.Body, got.Body)
		}
	})
}
