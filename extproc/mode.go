package extproc

import (
	"fmt"
	"slices"
	"sync"
	"time"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
)

// A mode is how the proxy says it sends bodies.
type mode struct {
	said              bool // false: the first message had no protocol_config
	observability     bool // nobody waits for our answers
	request, response filterv3.ProcessingMode_BodySendMode
}

// served reports whether the filter can guard anything in this mode. A proxy
// that does not say is believed until a body comes in parts.
func (m mode) served() bool {
	const buffered = filterv3.ProcessingMode_BUFFERED
	return !m.observability && (!m.said || m.request == buffered && m.response == buffered)
}

// wantsBack reports whether the proxy drops the chunks of this phase that are
// not given back.
func (m mode) wantsBack(p phase) bool {
	const duplex = filterv3.ProcessingMode_FULL_DUPLEX_STREAMED
	return p == requestBody && m.request == duplex || p == responseBody && m.response == duplex
}

func (m mode) String() string {
	switch {
	case m.observability:
		return "the proxy runs the filter in observability_mode: nothing is guarded"
	case !m.said:
		return "the proxy sends bodies in parts and no protocol_config: nothing is guarded; Envoy 1.37 or newer with request_body_mode and response_body_mode BUFFERED is needed"
	default:
		return fmt.Sprintf("the proxy has request_body_mode %v and response_body_mode %v: nothing is guarded; both must be BUFFERED", m.request, m.response)
	}
}

// degraded remembers which modes that cannot be served were seen of late.
type degraded struct {
	mu   sync.Mutex
	seen map[mode]time.Time
}

// degradedFor is how long a mode is reported after its last request.
const degradedFor = 5 * time.Minute

func (d *degraded) note(m mode, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[mode]time.Time{}
	}
	d.seen[m] = now
}

func (d *degraded) list(now time.Time) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for m, at := range d.seen {
		if now.Sub(at) > degradedFor {
			delete(d.seen, m)
			continue
		}
		out = append(out, m.String())
	}
	slices.Sort(out)
	return out
}
