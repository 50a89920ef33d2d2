package envoy_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

// A probe is a filter that does what a test says for a path, and remembers
// every message. It takes Envoy's access log too.
type probe struct {
	ext_procv3.UnimplementedExternalProcessorServer
	accesslogv3.UnimplementedAccessLogServiceServer

	mu      sync.Mutex
	scripts map[string]func(*talk) error
	talks   map[string]*talk
	entries map[string]*datav3.HTTPAccessLogEntry
}

func startProbe(t *testing.T, socket string) *probe {
	t.Helper()
	_ = os.Remove(socket)
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	p := &probe{
		scripts: map[string]func(*talk) error{}, talks: map[string]*talk{}, entries: map[string]*datav3.HTTPAccessLogEntry{},
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	ext_procv3.RegisterExternalProcessorServer(server, p)
	accesslogv3.RegisterAccessLogServiceServer(server, p)
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-served })
	return p
}

// on says what the filter does with the exchange of the path. By default it
// goes on with everything.
func (p *probe) on(path string, script func(*talk) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[path] = script
}

// A talk is one stream of the filter's protocol.
type talk struct {
	stream ext_procv3.ExternalProcessor_ProcessServer
	ended  chan struct{} // closed when Process returns

	mu       sync.Mutex
	messages []*ext_procv3.ProcessingRequest
	err      error // of the last Recv
}

func (p *probe) Process(stream ext_procv3.ExternalProcessor_ProcessServer) error {
	k := &talk{stream: stream, ended: make(chan struct{})}
	defer close(k.ended)
	first, err := k.next()
	if err != nil {
		return err
	}
	path := header(first.GetRequestHeaders().GetHeaders(), ":path")
	p.mu.Lock()
	p.talks[path] = k
	script := p.scripts[path]
	p.mu.Unlock()
	if script != nil {
		return script(k)
	}
	return k.goOn(first)
}

// next takes one message and does not answer it.
func (k *talk) next() (*ext_procv3.ProcessingRequest, error) {
	m, err := k.stream.Recv()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.err = err
		return nil, err
	}
	k.messages = append(k.messages, m)
	return m, nil
}

func (k *talk) last() *ext_procv3.ProcessingRequest {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.messages[len(k.messages)-1]
}

// goOn answers the message, and all that follow.
func (k *talk) goOn(m *ext_procv3.ProcessingRequest) error {
	for {
		if err := k.stream.Send(goOn(m, nil)); err != nil {
			return err
		}
		var err error
		if m, err = k.next(); err != nil {
			return err
		}
	}
}

// rest goes on with what was not received yet.
func (k *talk) rest() error {
	m, err := k.next()
	if err != nil {
		return err
	}
	return k.goOn(m)
}

// reach goes on until there is a message of the phase, which it does not
// answer.
func (k *talk) reach(phase string) error {
	for m := k.last(); phaseOf(m) != phase; {
		if err := k.stream.Send(goOn(m, nil)); err != nil {
			return err
		}
		var err error
		if m, err = k.next(); err != nil {
			return err
		}
	}
	return nil
}

// at makes a script that answers the message of the phase so, and goes on with
// the others.
func at(phase string, answers ...*ext_procv3.ProcessingResponse) func(*talk) error {
	return func(k *talk) error {
		if err := k.reach(phase); err != nil {
			return err
		}
		for _, a := range answers {
			if err := k.stream.Send(a); err != nil {
				return err
			}
		}
		return k.rest()
	}
}

const (
	reqHeaders, reqBody   = "request headers", "request body"
	respHeaders, respBody = "response headers", "response body"
)

func phaseOf(m *ext_procv3.ProcessingRequest) string {
	switch m.GetRequest().(type) {
	case *ext_procv3.ProcessingRequest_RequestHeaders:
		return reqHeaders
	case *ext_procv3.ProcessingRequest_RequestBody:
		return reqBody
	case *ext_procv3.ProcessingRequest_ResponseHeaders:
		return respHeaders
	case *ext_procv3.ProcessingRequest_ResponseBody:
		return respBody
	default:
		return fmt.Sprintf("%T", m.GetRequest())
	}
}

// goOn is CONTINUE for the message, perhaps with changes; the last one of the
// request has the decision.
func goOn(m *ext_procv3.ProcessingRequest, change *ext_procv3.CommonResponse) *ext_procv3.ProcessingResponse {
	return continued(phaseOf(m), change)
}

func continued(phase string, change *ext_procv3.CommonResponse) *ext_procv3.ProcessingResponse {
	r := &ext_procv3.ProcessingResponse{}
	switch phase {
	case reqHeaders:
		r.Response = &ext_procv3.ProcessingResponse_RequestHeaders{RequestHeaders: &ext_procv3.HeadersResponse{Response: change}}
		r.DynamicMetadata = metadata("decision", "pass")
	case reqBody:
		r.Response = &ext_procv3.ProcessingResponse_RequestBody{RequestBody: &ext_procv3.BodyResponse{Response: change}}
		r.DynamicMetadata = metadata("decision", "create")
	case respHeaders:
		r.Response = &ext_procv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: &ext_procv3.HeadersResponse{Response: change}}
	case respBody:
		r.Response = &ext_procv3.ProcessingResponse_ResponseBody{ResponseBody: &ext_procv3.BodyResponse{Response: change}}
	}
	return r
}

// talked waits until the stream of the path is over.
func (p *probe) talked(t *testing.T, path string) *talk {
	t.Helper()
	var k *talk
	poll(t, "a stream for "+path, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		k = p.talks[path]
		return k != nil
	})
	select {
	case <-k.ended:
	case <-time.After(within):
		t.Fatalf("the stream for %s does not end", path)
	}
	return k
}

// sequence is the messages in order; "end" is end_of_stream.
func (k *talk) sequence() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for _, m := range k.messages {
		name := phaseOf(m)
		if m.GetRequestHeaders().GetEndOfStream() || m.GetRequestBody().GetEndOfStream() ||
			m.GetResponseHeaders().GetEndOfStream() || m.GetResponseBody().GetEndOfStream() {
			name += " end"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// message is the one of the phase, nil without.
func (k *talk) message(phase string) *ext_procv3.ProcessingRequest {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.messages {
		if phaseOf(m) == phase {
			return m
		}
	}
	return nil
}

// attributes are those that came with the message.
func attributes(m *ext_procv3.ProcessingRequest) map[string]*structpb.Value {
	return m.GetAttributes()["envoy.filters.http.ext_proc"].GetFields()
}

func (p *probe) StreamAccessLogs(stream accesslogv3.AccessLogService_StreamAccessLogsServer) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		p.mu.Lock()
		for _, e := range m.GetHttpLogs().GetLogEntry() {
			p.entries[e.GetRequest().GetPath()] = e
		}
		p.mu.Unlock()
	}
}

// logged waits for the access log's entry for the path.
func (p *probe) logged(t *testing.T, path string) *datav3.HTTPAccessLogEntry {
	t.Helper()
	var e *datav3.HTTPAccessLogEntry
	poll(t, "an entry for "+path, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		e = p.entries[path]
		return e != nil
	})
	return e
}
