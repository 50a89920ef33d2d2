package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc"
)

// A toySidecar is the least that keeps a record: enough to show that the
// player sees the difference between one that does and one that does not.
type toySidecar struct {
	extprocv3.UnimplementedExternalProcessorServer
	forgets bool // keeps no record
	chatty  bool // answers each message twice

	mu      sync.Mutex
	records map[string]string // by body: claimed, doubtful, open
}

func (y *toySidecar) Process(stream extprocv3.ExternalProcessor_ProcessServer) error {
	key := ""
	defer func() { y.end(key) }()
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		if b := r.GetRequestBody(); b != nil {
			key = string(b.GetBody())
		}
		a := y.answer(r, key)
		if a.GetImmediateResponse() != nil {
			key = ""
		}
		if err := stream.Send(a); err != nil {
			return err
		}
		if y.chatty {
			if err := stream.Send(a); err != nil {
				return err
			}
		}
	}
}

// end: a stream that ends while its create is under way leaves doubt.
func (y *toySidecar) end(key string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.records[key] == "claimed" {
		y.records[key] = "doubtful"
	}
}

func (y *toySidecar) answer(r *extprocv3.ProcessingRequest, key string) *extprocv3.ProcessingResponse {
	y.mu.Lock()
	defer y.mu.Unlock()
	switch {
	case r.GetRequestHeaders() != nil:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocv3.HeadersResponse{}}}
	case r.GetResponseHeaders() != nil:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocv3.HeadersResponse{}}}
	case r.GetResponseBody() != nil:
		y.records[key] = "open"
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseBody{ResponseBody: &extprocv3.BodyResponse{}}}
	}
	switch y.records[key] {
	case "open":
		return immediate(201, markerName)
	case "doubtful", "claimed":
		return immediate(503, "Retry-After")
	}
	if !y.forgets {
		y.records[key] = "claimed"
	}
	set := []*corev3.HeaderValueOption{{Header: &corev3.HeaderValue{Key: "idempotency-key", RawValue: []byte("k")}}}
	common := &extprocv3.CommonResponse{HeaderMutation: &extprocv3.HeaderMutation{SetHeaders: set}}
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestBody{RequestBody: &extprocv3.BodyResponse{Response: common}}}
}

func immediate(status int, header string) *extprocv3.ProcessingResponse {
	set := []*corev3.HeaderValueOption{{Header: &corev3.HeaderValue{Key: header, RawValue: []byte("true")}}}
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extprocv3.ImmediateResponse{
		Status: &typev3.HttpStatus{Code: typev3.StatusCode(status)}, Headers: &extprocv3.HeaderMutation{SetHeaders: set},
	}}}
}

// playAgainst plays a sequence against a sidecar of the test's own.
func playAgainst(t *testing.T, y *toySidecar, text string) *run {
	t.Helper()
	y.records = map[string]string{}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	extprocv3.RegisterExternalProcessorServer(server, y)
	go server.Serve(l)
	t.Cleanup(server.Stop)
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `oneticket_unkeyed_total{rule="snow",why="body_mode"} 2`)
	}))
	t.Cleanup(admin.Close)
	q, err := parseSequence(text)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{script: &testCase{ID: q.ID, Profile: "snow"}, sys: snow{}, clients: map[string]*client{}}
	r.products = []*product{{admin: strings.TrimPrefix(admin.URL, "http://"), socket: socket, log: &logTail{}}}
	p := &player{ctx: t.Context(), stop: func() {}, key: 1, run: r}
	if err := p.dial(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.endStream(); p.conn.Close() })
	if err := p.play(q); err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	canceled = `case: X91
E> request_headers, request_body (whole, end_of_stream true)
S< key injected, CONTINUE
E> response_headers :status 201, response_body (whole, end_of_stream true)
S< CONTINUE
E> the stream is cancelled (as ever)
= the record is complete and keeps the answer; no release, no doubt, no error in the log
# second exchange, other key
E> request_headers, request_body (whole, end_of_stream true)
S< key injected, CONTINUE
E> the stream is cancelled before any response message
= the record is in doubt: neither released nor complete
`
	oneEach = `case: X92
E> request_headers :method POST content-length 0, end_of_stream true
S< request_headers response at once (nothing to key), CONTINUE, no mutation
= exactly one answer for each message, unkeyed counted with the reason body_mode
`
	localReplies = `case: X93
# each on its own stream and key, after a forwarded create
E> response_headers :status 201, code_details via_upstream, flags 0, attempt 1
= complete
E> response_headers :status 503, no attributes sent
= in doubt
`
)

func TestASidecarThatKeepsItsRecordsPassesTheSequences(t *testing.T) {
	for _, text := range []string{canceled, oneEach} {
		if r := playAgainst(t, &toySidecar{}, text); len(r.findings) > 0 || len(r.notes) > 0 {
			t.Errorf("%v %v", r.findings, r.notes)
		}
	}
}

func TestASidecarThatForgetsFailsTheSequences(t *testing.T) {
	for name, tc := range map[string]struct {
		sidecar *toySidecar
		text    string
		finds   string
	}{
		"no doubt kept":      {&toySidecar{forgets: true}, canceled, "wanted the record is in doubt"},
		"two answers":        {&toySidecar{chatty: true}, oneEach, "wanted exactly one answer"},
		"an outcome misread": {&toySidecar{}, localReplies, "wanted in doubt, saw complete"},
	} {
		t.Run(name, func(t *testing.T) {
			r := playAgainst(t, tc.sidecar, tc.text)
			all := fmt.Sprint(r.findings)
			if !strings.Contains(all, tc.finds) {
				t.Errorf("%s, want %q", all, tc.finds)
			}
		})
	}
}

func TestALineOfASequenceIsReadIntoMessages(t *testing.T) {
	got, err := parseMessages("request_headers :method PUT :path /x, protocol_config STREAMED, end_of_stream false")
	if err != nil || len(got) != 1 || got[0].mode != "STREAMED" || first(got[0].header, ":path") != "/x" || got[0].end {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = parseMessages("request_headers, request_body BODY[10:20] end_of_stream false")
	if err != nil || len(got) != 2 || got[1].part != [2]int{10, 20} || got[1].end {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = parseMessages("response_headers :status 503, code_details x{a|b:_c}, flags 32800, attempt 2")
	if err != nil || got[0].details != "x{a|b:_c}" || got[0].flags != 32800 || got[0].attempts != 2 || !got[0].attributes {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"hello", "request_body sideways"} {
		if _, err := parseMessages(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if d, rest := within("within 150 ms: a, or b"); d != 150*time.Millisecond || rest != "a, or b" {
		t.Errorf("%v %q", d, rest)
	}
}
