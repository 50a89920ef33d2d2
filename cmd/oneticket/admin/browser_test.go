package admin_test

import (
	"context"
	"net/http"
	"testing"

	"oneticket/cmd/oneticket/admin"
)

// TestAPageOfOthersAsksInVain: in the browser of somebody who can reach the
// admin address.
func TestAPageOfOthersAsksInVain(t *testing.T) {
	reloads, reads := 0, 0
	letters := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reads++ })
	s, err := admin.Listen("127.0.0.1:0", admin.NewMetrics(), func() admin.Readiness { return admin.Readiness{Ready: true} },
		func(context.Context) error { reloads++; return nil }, letters, letters, letters)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		name, method, path, host, site string
		status                         int
	}{
		{"a command", "POST", "/v1/reload", "", "", 200},
		{"a browser's own bar", "GET", "/v1/deadletters", "localhost:9911", "none", 200},
		{"a close by way of a proxy that keeps the name", "POST", "/v1/close", "oneticket.example", "", 200},
		{"a page of another origin", "POST", "/v1/reload", "", "cross-site", 403},
		{"a page of another origin that removes", "DELETE", "/v1/deadletters", "", "cross-site", 403},
		{"a name that was made to lead here", "GET", "/v1/deadletters/1", "evil.example:9911", "same-origin", 421},
		{"the same, and it reloads", "POST", "/v1/reload", "evil.example:9911", "same-origin", 421},
	} {
		t.Run(c.name, func(t *testing.T) {
			reloads, reads = 0, 0
			req, err := http.NewRequest(c.method, "http://"+s.Address()+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.host != "" {
				req.Host = c.host
			}
			if c.site != "" {
				req.Header.Set("Sec-Fetch-Site", c.site)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != c.status || (reloads+reads == 1) != (c.status == 200) {
				t.Errorf("got %d; %d reloads, %d reads", res.StatusCode, reloads, reads)
			}
		})
	}
}
