package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// A player plays the part of Envoy towards one sidecar.
type player struct {
	ctx  context.Context
	stop context.CancelFunc
	run  *run
	conn *grpc.ClientConn

	key    int
	held   string // how long the same key is in flight elsewhere, where a remark says so
	size   int    // BODY is at least so long
	mode   string // body mode of the first message, where a remark says one
	each   bool   // every E> line has a stream of its own, after a forwarded create
	skip   bool   // what follows cannot be brought about from outside
	reason string // the last reason that was looked for

	now     *stream
	others  []*stream
	streams []*stream
}

// seqPatience bounds one step.
const seqPatience = 15 * time.Second

func newPlayer(ctx context.Context, env environment, q *sequence) (*player, error) {
	ctx, stop := context.WithCancel(ctx)
	c := &testCase{ID: q.ID, Profile: "snow"}
	p := &player{ctx: ctx, stop: stop, key: 1, run: &run{env: env, serves: true, script: c, sys: snow{}, clients: map[string]*client{}}}
	if env.oneticket == "" {
		return p, errors.New("a sequence needs a oneticket")
	}
	if err := p.run.prepare(ctx); err != nil {
		return p, err
	}
	return p, p.dial()
}

func (p *player) dial() error {
	var err error
	p.conn, err = grpc.NewClient("unix:"+p.run.products[0].socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20), grpc.MaxCallSendMsgSize(64<<20)))
	return err
}

func (p *player) close() {
	p.stop()
	if p.conn != nil {
		p.conn.Close()
	}
	p.run.close()
}

func (p *player) nextKey() { p.key++ }

// reconfigure starts the sidecar anew with a block of its own.
func (p *player) reconfigure(block string) error {
	p.endStream()
	p.nextKey()
	p.conn.Close()
	for _, x := range p.run.products {
		x.stop()
	}
	head, inner, _ := strings.Cut(strings.TrimSuffix(block, "}"), "{")
	p.run.setup.extra = []string{head + "{\n" + strings.ReplaceAll(inner, ",", "\n") + "\n}"}
	if err := p.run.again(p.ctx); err != nil {
		return err
	}
	if err := p.dial(); err != nil || p.held == "" {
		return err
	}
	return p.elsewhere(p.held) // what was said of the key still holds
}

func (p *player) enlarge(mib string) error {
	f, err := strconv.ParseFloat(mib, 64)
	p.size = int(f * (1 << 20))
	return err
}

// body is the create of the present key.
func (p *player) body() []byte {
	head := fmt.Sprintf(`{"cmdb_ci":"db-%d","u_check":"ping","impact":"2","short_description":"down","description":"`, p.key)
	pad := max(0, p.size-len(head)-2)
	return []byte(head + strings.Repeat("x", pad) + `"}`)
}

func (p *player) open() (*stream, error) {
	s, err := openStream(p.ctx, extprocv3.NewExternalProcessorClient(p.conn), "snow")
	if err == nil {
		p.streams = append(p.streams, s)
	}
	return s, err
}

// endStream ends the present stream as Envoy does: it cancels it.
func (p *player) endStream() {
	if p.now != nil {
		p.now.cancel()
		p.now = nil
	}
}

// elsewhere opens a create of the same key on a stream of its own, which is
// answered after so long.
func (p *player) elsewhere(after string) error {
	d, err := parseDuration(after)
	if err != nil {
		return err
	}
	p.endStream()
	p.nextKey()
	p.held = after
	s, err := p.open()
	if err != nil {
		return err
	}
	if err := p.create(s); err != nil {
		return err
	}
	if !injected(s.last) {
		return fmt.Errorf("the first create was not sent on: %s", describe(s.last))
	}
	p.others = append(p.others, s)
	key := p.key
	time.AfterFunc(d, func() {
		if err := answerStream(s, key); err == nil {
			s.cancel()
		}
	})
	return nil
}

// create sends headers and body of a create and waits for both answers.
func (p *player) create(s *stream) error {
	for _, m := range []*envoyMessage{{name: "request_headers"}, {name: "request_body", end: true, part: [2]int{0, -1}}} {
		if s.over {
			return nil
		}
		r, err := p.message(s, m)
		if err != nil {
			return err
		}
		if err := s.send(r); err != nil {
			return err
		}
		if !s.await(seqPatience) {
			return fmt.Errorf("no answer to %s", m.name)
		}
	}
	return nil
}

// answerStream lets the backend's 201 arrive on a stream.
func answerStream(s *stream, key int) error {
	h := headers([]headerLine{{":status", "201"}, {"content-type", "application/json"}}, false)
	attributes, err := s.attributesOf(map[string]any{
		"response.code_details": "via_upstream", "response.flags": 0, "upstream.request_attempt_count": 1, "response.code": 201,
	})
	if err != nil {
		return err
	}
	if err := s.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: h}, Attributes: attributes}); err != nil {
		return err
	}
	if !s.await(seqPatience) {
		return errors.New("no answer to response_headers")
	}
	b := &extprocv3.HttpBody{Body: ticketBody(key), EndOfStream: true}
	if err := s.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{ResponseBody: b}}); err != nil {
		return err
	}
	if !s.await(seqPatience) {
		return errors.New("no answer to response_body")
	}
	return nil
}

func ticketBody(key int) []byte {
	return answerJSON(201, object{"result": object{"sys_id": snow{}.id(key), "number": fmt.Sprintf("INC%07d", key)}}).Body
}
