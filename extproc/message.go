package extproc

import (
	"strconv"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"oneticket/dedup"
)

// metadataNamespace is the namespace of the dynamic metadata that every answer
// to the proxy sets.
const metadataNamespace = "oneticket"

// eventOf reads a message; false if it is of no phase.
func eventOf(m *extprocv3.ProcessingRequest) (event, bool) {
	e := event{attributes: attributes{m.GetAttributes()[attributesOf].GetFields()}}
	if c := m.GetProtocolConfig(); c != nil {
		e.mode = mode{said: true, request: c.GetRequestBodyMode(), response: c.GetResponseBodyMode()}
	}
	e.mode.observability = m.GetObservabilityMode()
	switch r := m.GetRequest().(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		e.phase, e.head, e.end = requestHeaders, headOf(r.RequestHeaders), r.RequestHeaders.GetEndOfStream()
	case *extprocv3.ProcessingRequest_RequestBody:
		e.phase, e.body, e.end = requestBody, r.RequestBody.GetBody(), r.RequestBody.GetEndOfStream()
	case *extprocv3.ProcessingRequest_RequestTrailers:
		e.phase, e.end = requestTrailers, true
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		e.phase, e.head, e.end = responseHeaders, headOf(r.ResponseHeaders), r.ResponseHeaders.GetEndOfStream()
	case *extprocv3.ProcessingRequest_ResponseBody:
		e.phase, e.body, e.end = responseBody, r.ResponseBody.GetBody(), r.ResponseBody.GetEndOfStream()
	case *extprocv3.ProcessingRequest_ResponseTrailers:
		e.phase, e.end = responseTrailers, true
	default:
		return event{}, false
	}
	return e, true
}

func headOf(m *extprocv3.HttpHeaders) (h head) {
	lines := m.GetHeaders().GetHeaders()
	h.fields = make([]dedup.HeaderField, 0, len(lines))
	for _, line := range lines {
		value := string(line.GetRawValue())
		if value == "" {
			value = line.GetValue()
		}
		switch name := line.GetKey(); name {
		case ":method":
			h.method = value
		case ":scheme":
			h.scheme = value
		case ":authority":
			h.authority = value
		case ":path":
			h.path = value
		case ":status":
			h.status, _ = strconv.Atoi(value)
		default:
			h.fields = append(h.fields, dedup.HeaderField{Name: name, Value: value})
		}
	}
	return h
}

// messageOf writes the reply to an event of the phase.
func messageOf(p phase, r reply) *extprocv3.ProcessingResponse {
	m := &extprocv3.ProcessingResponse{DynamicMetadata: r.note.metadata()}
	if r.answer != nil {
		m.Response = &extprocv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: immediate(r)}
		return m
	}
	headers := &extprocv3.HeadersResponse{Response: common(r)}
	body := &extprocv3.BodyResponse{Response: headers.Response}
	switch p {
	case requestHeaders:
		m.Response = &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: headers}
		m.ModeOverride = r.rest.override()
	case requestBody:
		m.Response = &extprocv3.ProcessingResponse_RequestBody{RequestBody: body}
	case requestTrailers:
		m.Response = &extprocv3.ProcessingResponse_RequestTrailers{RequestTrailers: &extprocv3.TrailersResponse{}}
	case responseHeaders:
		m.Response = &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: headers}
	case responseBody:
		m.Response = &extprocv3.ProcessingResponse_ResponseBody{ResponseBody: body}
	case responseTrailers:
		m.Response = &extprocv3.ProcessingResponse_ResponseTrailers{ResponseTrailers: &extprocv3.TrailersResponse{}}
	}
	return m
}

// moreTime asks the proxy to wait so long for the answer to its last message.
func moreTime(d time.Duration) *extprocv3.ProcessingResponse {
	return &extprocv3.ProcessingResponse{OverrideMessageTimeout: durationpb.New(d)}
}

// common is CONTINUE with what the reply changes.
func common(r reply) *extprocv3.CommonResponse {
	c := &extprocv3.CommonResponse{Status: extprocv3.CommonResponse_CONTINUE, HeaderMutation: mutation(r.set, r.remove)}
	switch {
	case r.replace:
		c.BodyMutation = &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_Body{Body: r.body}}
	case r.echo != nil:
		c.BodyMutation = &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_StreamedResponse{
			StreamedResponse: &extprocv3.StreamedBodyResponse{Body: r.echo.body, EndOfStream: r.echo.end},
		}}
	}
	return c
}

func immediate(r reply) *extprocv3.ImmediateResponse {
	return &extprocv3.ImmediateResponse{
		Status:  &typev3.HttpStatus{Code: typev3.StatusCode(r.answer.Status)},
		Headers: mutation(r.answer.Header, nil),
		Body:    r.answer.Body,
		Details: r.note.details(),
	}
}

// mutation sets the headers: the first of a name takes the place of what is
// there, the others are added.
func mutation(fields []dedup.HeaderField, remove []string) *extprocv3.HeaderMutation {
	if len(fields) == 0 && len(remove) == 0 {
		return nil
	}
	m := &extprocv3.HeaderMutation{RemoveHeaders: remove, SetHeaders: make([]*corev3.HeaderValueOption, 0, len(fields))}
	for i, f := range fields {
		m.SetHeaders = append(m.SetHeaders, &corev3.HeaderValueOption{
			Header: &corev3.HeaderValue{Key: f.Name, RawValue: []byte(f.Value)},
			//lint:ignore SA1019 Envoy's ext_proc reads append and ignores append_action
			Append: wrapperspb.Bool(named(fields[:i], f.Name)),
		})
	}
	return m
}

func named(fields []dedup.HeaderField, name string) bool {
	for _, f := range fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

// override switches off what need not come; nil changes nothing. Every mode is
// set: one that is left out is a default, which may switch something on.
func (r rest) override() *filterv3.ProcessingMode {
	if r == restAll {
		return nil
	}
	m := &filterv3.ProcessingMode{
		RequestHeaderMode:   filterv3.ProcessingMode_SEND,
		ResponseHeaderMode:  filterv3.ProcessingMode_SEND,
		RequestBodyMode:     filterv3.ProcessingMode_NONE,
		ResponseBodyMode:    filterv3.ProcessingMode_NONE,
		RequestTrailerMode:  filterv3.ProcessingMode_SKIP,
		ResponseTrailerMode: filterv3.ProcessingMode_SKIP,
	}
	if r == restNothing {
		m.ResponseHeaderMode = filterv3.ProcessingMode_SKIP
	}
	return m
}

// exchangeMember is the member of the metadata that names the exchange; the
// access log gives it back.
const exchangeMember = "exchange"

// metadata has the member "decision" in every answer but the one that waits for
// the body: what passes without it is what the proxy's bypass log names.
func (n note) metadata() *structpb.Struct {
	members := map[string]*structpb.Value{"rule": structpb.NewStringValue(n.rule)}
	if !n.undecided {
		kind := n.kind
		if kind == "" {
			kind = dedup.Pass
		}
		members["decision"] = structpb.NewStringValue(string(kind))
		members["reason"] = structpb.NewStringValue(n.reason)
		members["key"] = structpb.NewStringValue(string(n.key))
	}
	if n.exchange != "" {
		members[exchangeMember] = structpb.NewStringValue(n.exchange)
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		metadataNamespace: structpb.NewStructValue(&structpb.Struct{Fields: members}),
	}}
}
