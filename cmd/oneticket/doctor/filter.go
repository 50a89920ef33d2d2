package doctor

import (
	"context"
	"strconv"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"oneticket/extproc/envoy"
)

// The phases of an exchange.
const (
	requestHeaders  = "request_headers"
	requestBody     = "request_body"
	responseHeaders = "response_headers"
	responseBody    = "response_body"
	trailers        = "trailers"
)

const (
	attributesOf = "envoy.filters.http.ext_proc"
	setHeader    = "oneticket-doctor-set"
	replacedBody = `{"replaced":"by oneticket doctor"}`
)

// A filter stands where the real one does.
type filter struct {
	extprocv3.UnimplementedExternalProcessorServer
	desk *desk
}

// Process does with a marked request what its plan says, and lets everything
// else pass.
func (f *filter) Process(stream extprocv3.ExternalProcessor_ProcessServer) error {
	x := &exchange{desk: f.desk, stream: stream}
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := x.take(m); err != nil {
			return err
		}
	}
}

// An exchange is one stream.
type exchange struct {
	desk    *desk
	stream  extprocv3.ExternalProcessor_ProcessServer
	probe   *probe // nil: not marked
	mode    *extprocv3.ProtocolConfiguration
	started bool
}

func (x *exchange) take(m *extprocv3.ProcessingRequest) error {
	if c := m.GetProtocolConfig(); c != nil {
		x.mode = c
	}
	if x.probe == nil {
		x.probe = x.desk.find(m)
	}
	if x.probe == nil {
		return x.stream.Send(x.pass(m))
	}
	x.probe.note(m, x.mode, !x.started)
	first := !x.started
	x.started = true
	if first {
		if err := x.begin(); err != nil {
			return err
		}
	}
	r := x.pass(m)
	r.DynamicMetadata = x.probe.metadata()
	if err := x.act(m, r); err != nil {
		return err
	}
	return x.stream.Send(r)
}

// begin is what happens before the first answer.
func (x *exchange) begin() error {
	p := x.probe
	p.mu.Lock()
	tries := p.streams
	p.mu.Unlock()
	switch {
	case tries <= p.refuse:
		return status.Error(codes.Unavailable, "oneticket doctor: away")
	case p.fail:
		return status.Error(codes.Internal, "oneticket doctor: a failure on purpose")
	}
	if p.ask > 0 {
		if err := x.stream.Send(&extprocv3.ProcessingResponse{OverrideMessageTimeout: durationpb.New(p.ask)}); err != nil {
			return err
		}
	}
	return x.hold(x.stream.Context())
}

// hold waits, and notes when Envoy did not.
func (x *exchange) hold(ctx context.Context) error {
	if x.probe.hold == 0 {
		return nil
	}
	began := time.Now()
	timer := time.NewTimer(x.probe.hold)
	defer timer.Stop()
	select {
	case <-timer.C:
		x.probe.mu.Lock()
		defer x.probe.mu.Unlock()
		x.probe.waited = true
		return nil
	case <-ctx.Done():
		x.probe.mu.Lock()
		defer x.probe.mu.Unlock()
		x.probe.gaveUp = time.Since(began)
		return ctx.Err()
	}
}

// act changes the answer as the plan says.
func (x *exchange) act(m *extprocv3.ProcessingRequest, r *extprocv3.ProcessingResponse) error {
	p := x.probe
	switch {
	case p.letPast && m.GetRequestHeaders() != nil:
		r.ModeOverride = &filterv3.ProcessingMode{
			RequestHeaderMode: filterv3.ProcessingMode_SEND, ResponseHeaderMode: filterv3.ProcessingMode_SEND,
			RequestBodyMode: filterv3.ProcessingMode_NONE, ResponseBodyMode: filterv3.ProcessingMode_NONE,
			RequestTrailerMode: filterv3.ProcessingMode_SKIP, ResponseTrailerMode: filterv3.ProcessingMode_SKIP,
		}
	case p.answer:
		r.Response = &extprocv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extprocv3.ImmediateResponse{
			Status: &typev3.HttpStatus{Code: 299}, Details: "oneticket doctor",
			Headers: &extprocv3.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{option(setHeader, p.mark)}},
		}}
	case p.rewrite && m.GetRequestBody() != nil:
		r.GetRequestBody().Response = &extprocv3.CommonResponse{
			HeaderMutation: &extprocv3.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{
				option(setHeader, p.mark), option("content-length", strconv.Itoa(len(replacedBody))),
			}},
			BodyMutation: &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_Body{Body: []byte(replacedBody)}},
		}
	}
	return nil
}

func option(name, value string) *corev3.HeaderValueOption {
	return &corev3.HeaderValueOption{Header: &corev3.HeaderValue{Key: name, RawValue: []byte(value)}}
}

// pass is an answer that changes nothing, in the form that the mode wants.
func (x *exchange) pass(m *extprocv3.ProcessingRequest) *extprocv3.ProcessingResponse {
	back := func(b *extprocv3.HttpBody, mode filterv3.ProcessingMode_BodySendMode) *extprocv3.BodyResponse {
		if mode != filterv3.ProcessingMode_FULL_DUPLEX_STREAMED {
			return &extprocv3.BodyResponse{}
		}
		return &extprocv3.BodyResponse{Response: &extprocv3.CommonResponse{BodyMutation: &extprocv3.BodyMutation{
			Mutation: &extprocv3.BodyMutation_StreamedResponse{StreamedResponse: &extprocv3.StreamedBodyResponse{
				Body: b.GetBody(), EndOfStream: b.GetEndOfStream(),
			}},
		}}}
	}
	switch r := m.GetRequest().(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocv3.HeadersResponse{}}}
	case *extprocv3.ProcessingRequest_RequestBody:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestBody{RequestBody: back(r.RequestBody, x.mode.GetRequestBodyMode())}}
	case *extprocv3.ProcessingRequest_RequestTrailers:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestTrailers{RequestTrailers: &extprocv3.TrailersResponse{}}}
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocv3.HeadersResponse{}}}
	case *extprocv3.ProcessingRequest_ResponseBody:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseBody{ResponseBody: back(r.ResponseBody, x.mode.GetResponseBodyMode())}}
	default:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseTrailers{ResponseTrailers: &extprocv3.TrailersResponse{}}}
	}
}

// note keeps what a message says.
func (p *probe) note(m *extprocv3.ProcessingRequest, mode *extprocv3.ProtocolConfiguration, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first {
		p.streams++
		p.mode, p.watching = mode, m.GetObservabilityMode()
	}
	told := m.GetAttributes()[attributesOf]
	x := message{phase: trailers}
	switch r := m.GetRequest().(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		x = message{requestHeaders, 0, r.RequestHeaders.GetEndOfStream()}
	case *extprocv3.ProcessingRequest_RequestBody:
		x = message{requestBody, len(r.RequestBody.GetBody()), r.RequestBody.GetEndOfStream()}
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		x = message{responseHeaders, 0, r.ResponseHeaders.GetEndOfStream()}
	case *extprocv3.ProcessingRequest_ResponseBody:
		x = message{responseBody, len(r.ResponseBody.GetBody()), r.ResponseBody.GetEndOfStream()}
	}
	p.messages = append(p.messages, x)
	switch {
	case told == nil:
	case strings.HasPrefix(x.phase, "request"):
		p.asked = told
	default:
		p.answered = told
	}
}

// metadata is what the filter sets with every answer; the access log shows it.
func (p *probe) metadata() *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{envoy.MetadataNamespace: structpb.NewStructValue(&structpb.Struct{
		Fields: map[string]*structpb.Value{"decision": structpb.NewStringValue("doctor"), "mark": structpb.NewStringValue(p.mark)},
	})}}
}

// An accessLog takes the access log.
type accessLog struct {
	accesslogv3.UnimplementedAccessLogServiceServer
	desk *desk
}

// StreamAccessLogs keeps the entries of marked requests.
func (l *accessLog) StreamAccessLogs(stream accesslogv3.AccessLogService_StreamAccessLogsServer) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, e := range m.GetHttpLogs().GetLogEntry() {
			if p := l.desk.marked(e.GetRequest().GetPath()); p != nil {
				p.mu.Lock()
				p.entry = e
				p.mu.Unlock()
			}
		}
	}
}
