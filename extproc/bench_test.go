package extproc_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
	"oneticket/extproc"
)

// A played stream has its messages from a list, each when the one before is
// answered: what is measured is the filter's own, without gRPC.
type played struct {
	grpc.ServerStream
	ctx      context.Context
	messages []*extprocv3.ProcessingRequest
	answered chan struct{}
	last     *extprocv3.ProcessingResponse
	next     int
}

func (p *played) Context() context.Context { return p.ctx }

func (p *played) Recv() (*extprocv3.ProcessingRequest, error) {
	if p.next > 0 {
		<-p.answered
	}
	if p.next == len(p.messages) {
		return nil, io.EOF
	}
	p.next++
	return p.messages[p.next-1], nil
}

func (p *played) Send(m *extprocv3.ProcessingResponse) error {
	p.last = m
	p.answered <- struct{}{}
	return nil
}

func play(b *testing.B, server *extproc.Server, messages ...*extprocv3.ProcessingRequest) *extprocv3.ProcessingResponse {
	p := &played{ctx: context.Background(), messages: messages, answered: make(chan struct{}, 1)}
	if err := server.Process(p); err != nil {
		b.Fatal(err)
	}
	return p.last
}

// BenchmarkRefire is a re-fire over the reference store, by the size of its
// body.
func BenchmarkRefire(b *testing.B) {
	for _, size := range []int{300, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			engine := dedup.NewEngine(dedup.EngineOptions{Store: storetest.NewMemory(time.Now)})
			defer engine.Close()
			rules := &atomic.Pointer[extproc.Rules]{}
			rules.Store(&extproc.Rules{Config: "c1", Rules: []*extproc.Rule{ruleOf()}, Hosts: map[string]string{"snow": "snow.example.test"}})
			calls := extproc.NewCaller(nil)
			defer calls.Close()
			server := extproc.New(extproc.Options{Decider: engine, Rules: rules, Calls: calls, Budget: time.Minute, Patience: extproc.Patience{Message: 30 * time.Second}})
			defer server.Drain(b.Context())
			body := strings.TrimSuffix(createBody, "}") + `,"description":"` + strings.Repeat("x", size) + `"}`
			play(b, server, requestHeaders(bearer...), requestBody(body), responseHeaders("201", false), responseBody(created1))
			head, whole := requestHeaders(bearer...), requestBody(body)
			b.ReportAllocs()
			for b.Loop() {
				if last := play(b, server, head, whole); last.GetImmediateResponse() == nil {
					b.Fatalf("no replay: %v", last)
				}
			}
		})
	}
}
