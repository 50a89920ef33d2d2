// Package webhooks holds the page on closes that ticket systems tell of.
package webhooks

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
)

// shown finds the requests of the page: the comment says what each does.
var shown = regexp.MustCompile("(?s)<!-- (closes|ignores) (\\S+) ?(\\S*) -->\n```http\n(.*?)```")

// TestTheRequestsOfThePageCloseWhatTheySay plays each as it stands there.
func TestTheRequestsOfThePageCloseWhatTheySay(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var closed []string
	mux := http.NewServeMux()
	handler := admin.NewCloseHandler(admin.Closes{
		Secrets: func() map[string]string {
			return map[string]string{"jira": "SECRET", "servicenow": "SECRET", "zendesk": "SECRET", "pagerduty": "SECRET", "opsgenie": "SECRET"}
		},
		Close: func(_ context.Context, backend, ticket string) (dedup.Closing, error) {
			closed = append(closed, backend+" "+ticket)
			return dedup.CloseWritten, nil
		},
		Metrics: admin.NewMetrics(), Log: slog.New(slog.DiscardHandler),
	})
	for _, path := range []string{"/v1/close", "/v1/close/{backend}", "/v1/close/{backend}/{ticket...}"} {
		mux.Handle(path, handler)
	}
	requests := shown.FindAllSubmatch(page, -1)
	if len(requests) < 8 {
		t.Fatalf("the page has %d requests", len(requests))
	}
	for _, r := range requests {
		does, backend, ticket := string(r[1]), string(r[2]), string(r[3])
		t.Run(does+" "+backend+" "+ticket, func(t *testing.T) {
			closed = nil
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, request(t, r[4]))
			want, result := backend+" "+ticket, `"result":"closed"`
			if does == "ignores" {
				want, result = "", `"result":"ignored"`
			}
			if got := strings.Join(closed, ", "); got != want || w.Code != http.StatusOK || !strings.Contains(w.Body.String(), result) {
				t.Errorf("closed %q, answered %d %s", got, w.Code, w.Body)
			}
		})
	}
}

// request reads one as a person writes it: without its length.
func request(t *testing.T, text []byte) *http.Request {
	t.Helper()
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(append(head, "\n\n"...))))
	if err != nil {
		t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(bytes.TrimSuffix(body, []byte("\n"))))
	return r
}
