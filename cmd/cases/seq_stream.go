package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	ext_procv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// A stream is one exchange, as Envoy would have it with the sidecar.
type stream struct {
	cancel  context.CancelFunc
	grpc    extprocv3.ExternalProcessor_ProcessClient
	answers chan *extprocv3.ProcessingResponse
	end     error // why there are no more answers; read after answers is closed

	sent, answered, overrides int
	last                      *extprocv3.ProcessingResponse
	all                       []*extprocv3.ProcessingResponse // answers since the last E> line
	lastSent                  time.Time
	over                      bool // the sidecar answered in the backend's place, or ended the stream
	cluster                   string
}

func openStream(ctx context.Context, client extprocv3.ExternalProcessorClient, cluster string) (*stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	g, err := client.Process(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{cancel: cancel, grpc: g, answers: make(chan *extprocv3.ProcessingResponse, 16), cluster: cluster}
	go s.receive()
	return s, nil
}

func (s *stream) receive() {
	defer close(s.answers)
	for {
		a, err := s.grpc.Recv()
		if err != nil {
			s.end = err
			return
		}
		s.answers <- a
	}
}

// send writes one message.
func (s *stream) send(r *extprocv3.ProcessingRequest) error {
	s.sent++
	s.lastSent = time.Now()
	if err := s.grpc.Send(r); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// await reads answers until each message has one, the sidecar took the
// exchange over, or time is up. It reports whether all is answered.
func (s *stream) await(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for s.answered < s.sent && !s.over {
		select {
		case a, ok := <-s.answers:
			s.take(a, ok)
		case <-timer.C:
			return false
		}
	}
	return true
}

func (s *stream) take(a *extprocv3.ProcessingResponse, ok bool) {
	switch {
	case !ok:
		s.over = true
		return
	case a.GetOverrideMessageTimeout() != nil:
		s.overrides++
	default:
		s.answered++
		s.last = a
		s.over = a.GetImmediateResponse() != nil
	}
	s.all = append(s.all, a)
}

// firstAnswer waits for anything at all and returns it; nil when time is up.
func (s *stream) firstAnswer(patience time.Duration) *extprocv3.ProcessingResponse {
	if len(s.all) > 0 && s.answered == s.sent {
		return s.all[len(s.all)-1]
	}
	select {
	case a, ok := <-s.answers:
		s.take(a, ok)
		return a
	case <-time.After(patience):
		return nil
	}
}

// extra reports answers that nobody asked for.
func (s *stream) extra() int {
	for {
		select {
		case a, ok := <-s.answers:
			if !ok {
				return s.answered - s.sent
			}
			s.take(a, ok)
		case <-time.After(50 * time.Millisecond):
			return s.answered - s.sent
		}
	}
}

// headers is a message with headers. Values go out raw, as Envoy sends them.
func headers(lines []headerLine, end bool) *extprocv3.HttpHeaders {
	m := &corev3.HeaderMap{}
	for _, l := range lines {
		m.Headers = append(m.Headers, &corev3.HeaderValue{Key: strings.ToLower(l.Name), RawValue: []byte(l.Value)})
	}
	return &extprocv3.HttpHeaders{Headers: m, EndOfStream: end}
}

// withDefaults puts the defaults before what is not given.
func withDefaults(given, defaults []headerLine) []headerLine {
	var out []headerLine
	for _, d := range defaults {
		if len(get(given, d.Name)) == 0 {
			out = append(out, d)
		}
	}
	return append(out, given...)
}

// bodyMode reads a mode of a body; BUFFERED when none is given.
func bodyMode(name string) (ext_procv3.ProcessingMode_BodySendMode, error) {
	if name == "" {
		name = "BUFFERED"
	}
	n, ok := ext_procv3.ProcessingMode_BodySendMode_value[name]
	if !ok {
		return 0, fmt.Errorf("%q is no body mode", name)
	}
	return ext_procv3.ProcessingMode_BodySendMode(n), nil
}

// attributesOf are the attributes of one direction, with the cluster's name.
func (s *stream) attributesOf(more map[string]any) (map[string]*structpb.Struct, error) {
	fields := map[string]any{"xds.cluster_name": s.cluster}
	maps.Copy(fields, more)
	st, err := structpb.NewStruct(fields)
	if err != nil {
		return nil, err
	}
	return map[string]*structpb.Struct{"envoy.filters.http.ext_proc": st}, nil
}
