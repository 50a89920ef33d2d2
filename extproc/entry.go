package extproc

import (
	"time"

	dataaccesslogv3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
)

// An entry is what the proxy's access log says of one exchange that has ended.
type entry struct {
	exchange  string // the id that we gave
	requestID string
	started   time.Time
	sent      uint64 // bytes to the backend, over all attempts
	counts    bool   // the proxy counts bytes: those of the client are there
	details   string
	reached   bool // it says of the last attempt that something was sent or came back
}

// A word is what an entry says of the way to the backend.
type word uint8

const (
	unsaid    word = iota // no entry has come
	maybeWas              // something was sent, or it does not say
	neverSent             // surely nothing was
)

// entryOf reads an entry; false for one that is not the exchange's last.
func entryOf(line *dataaccesslogv3.HTTPAccessLogEntry) (entry, bool) {
	common := line.GetCommonProperties()
	kind := common.GetAccessLogType()
	last := kind == dataaccesslogv3.AccessLogType_NotSet || kind == dataaccesslogv3.AccessLogType_DownstreamEnd
	//lint:ignore SA1019 older proxies say it in this way only
	if common == nil || !last || common.GetIntermediateLogEntry() {
		return entry{}, false
	}
	return entry{
		exchange:  common.GetMetadata().GetFilterMetadata()[metadataNamespace].GetFields()[exchangeMember].GetStringValue(),
		requestID: line.GetRequest().GetRequestId(),
		started:   common.GetStartTime().AsTime(),
		sent:      common.GetUpstreamWireBytesSent(),
		counts:    common.GetDownstreamWireBytesReceived() > 0,
		details:   line.GetResponse().GetResponseCodeDetails(),
		reached: common.GetTimeToFirstUpstreamTxByte() != nil || common.GetTimeToFirstUpstreamRxByte() != nil ||
			common.GetUpstreamWireBytesReceived() > 0,
	}, true
}

// lastWord judges the entry. What it says of times is of the last attempt, so
// that after several the count alone decides; and a proxy that does not count
// says 0 too.
func (e entry) lastWord() word {
	if e.sent > 0 || !e.counts || e.reached || e.details == viaUpstream {
		return maybeWas
	}
	return neverSent
}

// startedAt compares with what the proxy told of the request, which is the
// same instant in RFC 3339.
func (e entry) startedAt(told string) bool {
	at, err := time.Parse(time.RFC3339Nano, told)
	return err == nil && at.Equal(e.started)
}
