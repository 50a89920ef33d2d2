package extproc

import (
	"time"

	"google.golang.org/grpc/encoding"

	"oneticket/dedup"
)

// LenientCodec is the codec of ServerOptions.
func LenientCodec() encoding.CodecV2 { return lenient{encoding.GetCodecV2("proto")} }

// Replayed reports whether a header of an answer may be given again.
func (r *Rule) Replayed(name string) bool { return r.replayed(name) }

// Replay is the answer that a duplicate gets.
func (r *Rule) Replay(record *dedup.Record) *dedup.Response { return r.replay(record) }

// Plan is Patience.plan.
func (p Patience) Plan(want time.Duration) (wait, override time.Duration) { return p.plan(want) }

// RequestOf is what rules read of these headers.
func RequestOf(method, scheme, authority, path string, hosts map[string]string) dedup.Request {
	h := head{method: method, scheme: scheme, authority: authority, path: path}
	return h.request(&Rules{Hosts: hosts}, attributes{})
}

// BearerOf is who sent the request, hashed with the secret of a store.
func BearerOf(secret []byte, r *Rule, req *dedup.Request) dedup.Bearer {
	return r.bearer(secret, req, r.credential(req))
}

// LateFor is how long an entry of the access log may come after its exchange.
const LateFor = lateFor

// CallHeader marks an outside call.
const CallHeader = callHeader

// AccessLogs is how many proxies' access logs are read.
func (s *Server) AccessLogs() (n int) {
	s.accessLog.mu.Lock()
	defer s.accessLog.mu.Unlock()
	for _, open := range s.accessLog.streams {
		n += open
	}
	return n
}

// Followed is how many exchanges an entry of the access log is looked for.
func (s *Server) Followed() int {
	s.accessLog.book.mu.Lock()
	defer s.accessLog.book.mu.Unlock()
	return len(s.accessLog.book.byID)
}

// Presented are the names of the headers of which the credentials for calls on
// behalf of a request with this header are made.
func (r *Rule) Presented(header []dedup.HeaderField) (names []string) {
	x := exchange{head: head{fields: header}}
	for _, f := range x.credentials(r).fields {
		names = append(names, f.Name)
	}
	return names
}
