package extproc_test

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// requestHeaders are those of a create; a header given replaces a default.
func requestHeaders(header ...string) *extprocv3.ProcessingRequest {
	base := []string{":method", "POST", ":scheme", "https", ":authority", "localhost:8081", ":path", "/api/now/table/incident?x=1"}
	if len(header) == 0 {
		header = bearer
	}
	return &extprocv3.ProcessingRequest{
		Request:        &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(base, header)}},
		Attributes:     attributes(map[string]any{"xds.cluster_name": "snow"}),
		ProtocolConfig: protocol(filterv3.ProcessingMode_BUFFERED, filterv3.ProcessingMode_BUFFERED),
	}
}

func protocol(request, response filterv3.ProcessingMode_BodySendMode) *extprocv3.ProtocolConfiguration {
	return &extprocv3.ProtocolConfiguration{RequestBodyMode: request, ResponseBodyMode: response}
}

func requestBody(body string) *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{
		RequestBody: &extprocv3.HttpBody{Body: []byte(body), EndOfStream: true},
	}}
}

func responseHeaders(status string, end bool, header ...string) *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{
		Request: &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extprocv3.HttpHeaders{
			Headers: headerMap([]string{":status", status}, header), EndOfStream: end,
		}},
		Attributes: attributes(map[string]any{
			"response.code_details": "via_upstream", "response.flags": 0, "upstream.request_attempt_count": 1,
		}),
	}
}

func responseBody(body string) *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{
		ResponseBody: &extprocv3.HttpBody{Body: []byte(body), EndOfStream: true},
	}}
}

func attributes(values map[string]any) map[string]*structpb.Struct {
	s, err := structpb.NewStruct(values)
	if err != nil {
		panic(err)
	}
	return map[string]*structpb.Struct{"envoy.filters.http.ext_proc": s}
}

func headerMap(base, header []string) *corev3.HeaderMap {
	m := &corev3.HeaderMap{}
	at := map[string]int{}
	for _, lines := range [][]string{base, header} {
		for i := 0; i < len(lines); i += 2 {
			line := &corev3.HeaderValue{Key: lines[i], RawValue: []byte(lines[i+1])}
			if n, there := at[lines[i]]; there && strings.HasPrefix(lines[i], ":") {
				m.Headers[n] = line
				continue
			}
			at[lines[i]] = len(m.Headers)
			m.Headers = append(m.Headers, line)
		}
	}
	return m
}

// headersIn are the headers that an answer sets, in order.
func headersIn(m *extprocv3.HeaderMutation) (names []string, values map[string][]string) {
	values = map[string][]string{}
	for _, o := range m.GetSetHeaders() {
		name := o.GetHeader().GetKey()
		names = append(names, name)
		values[name] = append(values[name], string(o.GetHeader().GetRawValue()))
	}
	return names, values
}

func header(m *extprocv3.HeaderMutation, name string) string {
	_, values := headersIn(m)
	return strings.Join(values[name], " & ")
}

func metadata(m *extprocv3.ProcessingResponse, name string) string {
	return m.GetDynamicMetadata().GetFields()["oneticket"].GetStructValue().GetFields()[name].GetStringValue()
}
