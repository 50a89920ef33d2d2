package envoy_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

// A filter decides "pass" on everything, and remembers what it was asked.
type filter struct {
	ext_procv3.UnimplementedExternalProcessorServer
	server *grpc.Server

	mu    sync.Mutex
	paths []string                    // of the exchanges, in order
	attrs map[string]*structpb.Struct // of their first message, by path
}

// startFilter listens on the socket until the test ends, with more services
// beside the filter.
func startFilter(t *testing.T, socket string, more ...func(*grpc.Server)) *filter {
	t.Helper()
	_ = os.Remove(socket)
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	f := &filter{server: grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20)), attrs: map[string]*structpb.Struct{}}
	ext_procv3.RegisterExternalProcessorServer(f.server, f)
	for _, register := range more {
		register(f.server)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = f.server.Serve(l) }()
	t.Cleanup(func() { f.server.Stop(); <-served })
	return f
}

// seen says how many exchanges with the path it was asked about.
func (f *filter) seen(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, p := range f.paths {
		if p == path {
			n++
		}
	}
	return n
}

func (f *filter) attributes(path string) *structpb.Struct {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attrs[path]
}

func (f *filter) Process(stream ext_procv3.ExternalProcessor_ProcessServer) error {
	path := ""
	for {
		req, err := stream.Recv()
		if err != nil {
			return err
		}
		if h := req.GetRequestHeaders(); h != nil {
			path = header(h.GetHeaders(), ":path")
			f.mu.Lock()
			f.paths = append(f.paths, path)
			f.attrs[path] = req.GetAttributes()["envoy.filters.http.ext_proc"]
			f.mu.Unlock()
		}
		resp, err := answer(req, path)
		if err != nil {
			return err
		}
		if err := stream.Send(resp); err != nil {
			return err
		}
	}
}

// answer goes on with every message; the last one of the request has the
// decision. On the path /dies the filter dies between its two answers.
func answer(req *ext_procv3.ProcessingRequest, path string) (*ext_procv3.ProcessingResponse, error) {
	switch {
	case req.GetRequestHeaders() != nil:
		resp := &ext_procv3.ProcessingResponse{Response: &ext_procv3.ProcessingResponse_RequestHeaders{
			RequestHeaders: &ext_procv3.HeadersResponse{},
		}}
		if req.GetRequestHeaders().GetEndOfStream() {
			resp.DynamicMetadata = metadata("decision", "pass")
		} else if strings.HasPrefix(path, "/dies") {
			resp.DynamicMetadata = metadata("rule", "network")
		}
		return resp, nil
	case req.GetRequestBody() != nil && strings.HasPrefix(path, "/dies"):
		return nil, errors.New("killed")
	case req.GetRequestBody() != nil && path == "/answered":
		return immediate(), nil
	case req.GetRequestBody() != nil:
		return &ext_procv3.ProcessingResponse{
			Response:        &ext_procv3.ProcessingResponse_RequestBody{RequestBody: keyed()},
			DynamicMetadata: metadata("decision", "pass"),
		}, nil
	case req.GetResponseHeaders() != nil:
		return &ext_procv3.ProcessingResponse{Response: &ext_procv3.ProcessingResponse_ResponseHeaders{
			ResponseHeaders: &ext_procv3.HeadersResponse{},
		}}, nil
	default:
		return &ext_procv3.ProcessingResponse{Response: &ext_procv3.ProcessingResponse_ResponseBody{
			ResponseBody: &ext_procv3.BodyResponse{},
		}}, nil
	}
}

// keyed adds an idempotency header as a create does.
func keyed() *ext_procv3.BodyResponse {
	return &ext_procv3.BodyResponse{Response: &ext_procv3.CommonResponse{
		HeaderMutation: &ext_procv3.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{{
			Header: &corev3.HeaderValue{Key: "Idempotency-Key", RawValue: []byte("idem:1")},
		}}},
	}}
}

func immediate() *ext_procv3.ProcessingResponse {
	return &ext_procv3.ProcessingResponse{
		Response: &ext_procv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &ext_procv3.ImmediateResponse{
			Headers: &ext_procv3.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{{
				Header: &corev3.HeaderValue{Key: "Idempotent-Replayed", RawValue: []byte("true")},
			}}},
			Body: []byte("stored"),
		}},
		DynamicMetadata: metadata("decision", "suppress"),
	}
}

func metadata(name, value string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"oneticket": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			name: structpb.NewStringValue(value),
		}}),
	}}
}

func header(h *corev3.HeaderMap, name string) string {
	for _, v := range h.GetHeaders() {
		if v.GetKey() == name {
			return string(v.GetRawValue())
		}
	}
	return ""
}
