package envoy

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// frozen is true of a create that was held for a filter which did not answer in
// time, and that was never sent: status_on_error is for a filter that is dead,
// and Envoy's own answer to a frozen one is a 504, after which many clients
// believe that the create may have been made.
const frozen = "response.code_details == 'ext_proc_error_per-message_timeout_exceeded' && !has(upstream.address)"

// frozenIsUnavailable makes it the 503 that a dead filter gets; nil for a
// backend whose creates pass then.
func (b *builder) frozenIsUnavailable(backend Backend) *hcmv3.LocalReplyConfig {
	if !backend.FailureClosed {
		return nil
	}
	return &hcmv3.LocalReplyConfig{Mappers: []*hcmv3.ResponseMapper{{
		Filter:     b.only(frozen),
		StatusCode: wrapperspb.UInt32(503),
		HeadersToAdd: []*corev3.HeaderValueOption{{
			Header: &corev3.HeaderValue{Key: "retry-after", Value: "1"},
		}},
	}}}
}
