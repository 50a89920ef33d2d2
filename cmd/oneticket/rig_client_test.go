package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// An answer is what one client saw; status 0 is none.
type answer struct {
	status   int
	header   http.Header
	body     string
	replayed bool
}

// answerIn reads the whole answer.
func answerIn(res *http.Response) (answer, error) {
	text, err := io.ReadAll(res.Body)
	return answer{
		status: res.StatusCode, header: res.Header, body: string(text),
		replayed: res.Header.Get("Idempotent-Replayed") == "true",
	}, err
}

func (a answer) ticket() string {
	var fields struct {
		Result struct {
			ID string `json:"sys_id"`
		} `json:"result"`
	}
	_ = json.Unmarshal([]byte(a.body), &fields)
	return fields.Result.ID
}

// newClient has connections of its own for every request in flight.
func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 40 * time.Second}
}

func (s *sidecar) post(c *http.Client, body string, headers ...string) answer {
	return s.postReader(c, strings.NewReader(body), headers...)
}

func (s *sidecar) postReader(c *http.Client, body io.Reader, headers ...string) answer {
	req, err := http.NewRequest(http.MethodPost, "http://"+s.listen+"/api/now/table/incident", body)
	if err != nil {
		s.t.Error(err)
		return answer{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("bot", "secret")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	a, err := answerIn(res)
	if err != nil {
		return answer{}
	}
	return a
}
