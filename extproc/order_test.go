package extproc_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
	"oneticket/extproc"
)

// A script is a stream whose messages are known beforehand.
type script struct {
	grpc.ServerStream
	ctx     context.Context
	left    []*extprocv3.ProcessingRequest
	answers []*extprocv3.ProcessingResponse
}

func (s *script) Context() context.Context { return s.ctx }

func (s *script) Recv() (*extprocv3.ProcessingRequest, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	m := s.left[0]
	s.left = s.left[1:]
	return m, nil
}

func (s *script) Send(m *extprocv3.ProcessingResponse) error {
	s.answers = append(s.answers, m)
	return nil
}

// messageFor makes a message of a byte: its kind, and how it is odd.
func messageFor(b byte) *extprocv3.ProcessingRequest {
	bodies := []string{createBody, `{"cmdb_ci":"db-07"}`, `{"cmdb`, ``}
	body := bodies[b>>4&3]
	end := b&0x80 == 0
	switch b & 7 {
	case 0:
		m := requestHeaders()
		m.GetRequestHeaders().EndOfStream = b&0x10 != 0
		switch {
		case b&0x20 != 0:
			m.ProtocolConfig = nil
		case b&0x40 != 0:
			m.ProtocolConfig = protocol(filterv3.ProcessingMode_STREAMED, filterv3.ProcessingMode_FULL_DUPLEX_STREAMED)
		}
		return m
	case 1:
		m := requestBody(body)
		m.GetRequestBody().EndOfStream = end
		return m
	case 2:
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestTrailers{}}
	case 3:
		return responseHeaders([]string{"201", "400", "503", "x"}[b>>4&3], !end)
	case 4:
		m := responseBody([]string{created1, `{}`, ``, "\xff"}[b>>4&3])
		m.GetResponseBody().EndOfStream = end
		return m
	case 5:
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseTrailers{}}
	case 6:
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{}}
	default:
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{}}
	}
}

// answers reports whether the answer is one to such a message.
func answers(m *extprocv3.ProcessingRequest, a *extprocv3.ProcessingResponse) bool {
	if a.GetImmediateResponse() != nil {
		return true
	}
	switch m.GetRequest().(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		return a.GetRequestHeaders() != nil
	case *extprocv3.ProcessingRequest_RequestBody:
		return a.GetRequestBody() != nil
	case *extprocv3.ProcessingRequest_RequestTrailers:
		return a.GetRequestTrailers() != nil
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		return a.GetResponseHeaders() != nil
	case *extprocv3.ProcessingRequest_ResponseBody:
		return a.GetResponseBody() != nil
	default:
		return a.GetResponseTrailers() != nil
	}
}

// Whatever comes in whatever order, each message has one answer of its kind,
// and no claim is left running.
func FuzzMessageOrder(f *testing.F) {
	f.Add([]byte{0, 1, 3, 4})
	f.Add([]byte{0, 1, 1, 0, 3, 3, 4, 4})
	f.Add([]byte{4, 3, 1, 0})
	f.Add([]byte{0x20, 0x81, 3, 0x84})
	f.Add([]byte{0x40, 1, 0x81, 3, 4})
	f.Add([]byte{0, 0x81, 2, 3, 0x84, 5})
	f.Add([]byte{6, 7, 1, 4, 0x10, 0x13})
	f.Fuzz(func(t *testing.T, order []byte) {
		order = order[:min(len(order), 32)]
		store := storetest.NewMemory(time.Now)
		engine := dedup.NewEngine(dedup.EngineOptions{Store: store})
		defer engine.Close()
		rules := &atomic.Pointer[extproc.Rules]{}
		rules.Store(&extproc.Rules{Rules: []*extproc.Rule{ruleOf()}})
		server := extproc.New(extproc.Options{
			Decider: engine, Rules: rules, Patience: extproc.Patience{Message: time.Minute},
		})
		s := &script{ctx: context.Background()}
		for _, b := range order {
			s.left = append(s.left, messageFor(b))
		}
		sent := s.left
		// The stream's end may come before its messages are through, as a
		// client's going does; then the rest needs no answer.
		if err := server.Process(s); err != nil {
			t.Fatal(err)
		}
		if len(s.answers) != len(sent) {
			t.Fatalf("%d answers to %d messages", len(s.answers), len(sent))
		}
		for i, a := range s.answers {
			if !answers(sent[i], a) {
				t.Fatalf("message %d, %v, was answered with %v", i, sent[i], a)
			}
			// A request that waits for its body is not decided, and must not say so.
			if metadata(a, "decision") == "" && a.GetRequestHeaders() == nil {
				t.Fatalf("answer %d has no decision: %v", i, a)
			}
		}
		err := store.List(context.Background(), "", func(_ dedup.Ref, rec dedup.Record) bool {
			if rec.State == dedup.Claimed {
				t.Errorf("a claim is left running")
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
