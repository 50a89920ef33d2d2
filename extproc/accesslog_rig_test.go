package extproc_test

import (
	"context"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	dataaccesslogv3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// logs is Envoy's end of one access-log stream.
type logs struct {
	t      *testing.T
	stream accesslogv3.AccessLogService_StreamAccessLogsClient
}

// logs opens a stream and waits until the server reads it.
func (r *rig) logs() *logs {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.t.Cleanup(cancel)
	before := r.server.AccessLogs()
	stream, err := accesslogv3.NewAccessLogServiceClient(r.conn).StreamAccessLogs(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	l := &logs{r.t, stream}
	l.send(&accesslogv3.StreamAccessLogsMessage{Identifier: &accesslogv3.StreamAccessLogsMessage_Identifier{
		Node: &corev3.Node{Id: "envoy"}, LogName: "oneticket",
	}})
	poll(r.t, "the access log is not read", func() bool { return r.server.AccessLogs() > before })
	return l
}

func (l *logs) send(m *accesslogv3.StreamAccessLogsMessage) {
	l.t.Helper()
	if err := l.stream.Send(m); err != nil {
		l.t.Fatal(err)
	}
}

func (l *logs) log(entries ...*dataaccesslogv3.HTTPAccessLogEntry) {
	l.t.Helper()
	l.send(&accesslogv3.StreamAccessLogsMessage{LogEntries: &accesslogv3.StreamAccessLogsMessage_HttpLogs{
		HttpLogs: &accesslogv3.StreamAccessLogsMessage_HTTPAccessLogEntries{LogEntry: entries},
	}})
}

func poll(t *testing.T, not string, done func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal(not)
		}
	}
}

// logEntry is one as Envoy writes it; change may make it another.
func logEntry(exchange string, sent uint64, change ...func(*dataaccesslogv3.HTTPAccessLogEntry)) *dataaccesslogv3.HTTPAccessLogEntry {
	common := &dataaccesslogv3.AccessLogCommon{
		StartTime: timestamppb.New(requestTime), DownstreamWireBytesReceived: 321, UpstreamWireBytesSent: sent, UpstreamRequestAttemptCount: 1,
		AccessLogType: dataaccesslogv3.AccessLogType_DownstreamEnd,
	}
	if sent > 0 {
		common.TimeToFirstUpstreamTxByte = durationpb.New(time.Millisecond)
	}
	if exchange != "" {
		common.Metadata = &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{"oneticket": {
			Fields: map[string]*structpb.Value{"exchange": structpb.NewStringValue(exchange)},
		}}}
	}
	e := &dataaccesslogv3.HTTPAccessLogEntry{
		CommonProperties: common,
		Request:          &dataaccesslogv3.HTTPRequestProperties{RequestId: "r-1"},
		Response:         &dataaccesslogv3.HTTPResponseProperties{ResponseCodeDetails: "downstream_remote_disconnect"},
	}
	for _, c := range change {
		c(e)
	}
	return e
}

var requestTime = time.Date(2026, 11, 29, 10, 11, 12, 131415000, time.UTC)
