package main

import (
	"fmt"
	"strings"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
)

// envoy does what an E> line says.
func (p *player) envoy(text string) error {
	if strings.HasPrefix(text, "the stream is cancelled") {
		p.endStream()
		return nil
	}
	messages, err := parseMessages(text)
	if err != nil {
		return err
	}
	if err := p.begin(messages); err != nil {
		return err
	}
	p.now.all = nil
	for _, m := range messages {
		// Envoy sends nothing more before the last message was answered.
		if !p.now.await(seqPatience) {
			p.run.found("E> "+text, "an answer before "+m.name, "none")
			return nil
		}
		if p.now.over {
			return nil
		}
		r, err := p.message(p.now, m)
		if err != nil {
			return err
		}
		if err := p.now.send(r); err != nil {
			return err
		}
	}
	if p.each {
		return p.complete(messages)
	}
	return nil
}

// begin opens a stream where the line needs a new one.
func (p *player) begin(messages []*envoyMessage) error {
	startsAnew := messages[0].name == "request_headers"
	if p.now != nil && !startsAnew && !p.each {
		return nil
	}
	if !startsAnew && !p.each {
		return fmt.Errorf("%s without a stream", messages[0].name)
	}
	p.endStream()
	if p.each {
		p.nextKey()
	}
	var err error
	if p.now, err = p.open(); err != nil || startsAnew {
		return err
	}
	if err := p.create(p.now); err != nil {
		return err
	}
	if !injected(p.now.last) {
		p.run.found("forwarded create", "key injected", describe(p.now.last))
	}
	return nil
}

// complete ends an answer of which only the headers were told: its body, and
// the end of the stream.
func (p *player) complete(messages []*envoyMessage) error {
	last := messages[len(messages)-1]
	if last.name == "response_headers" && !last.end && p.now.await(seqPatience) && !p.now.over {
		r, err := p.message(p.now, &envoyMessage{name: "response_body", end: true, part: [2]int{0, -1}, header: last.header})
		if err != nil {
			return err
		}
		if err := p.now.send(r); err != nil {
			return err
		}
	}
	if !p.now.await(seqPatience) {
		p.run.found("E> "+last.name, "an answer", "none")
	}
	p.endStream()
	return nil
}

// message builds one message of a stream.
func (p *player) message(s *stream, m *envoyMessage) (*extprocv3.ProcessingRequest, error) {
	r := &extprocv3.ProcessingRequest{}
	switch m.name {
	case "request_headers":
		r.Request = &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: headers(p.requestHeader(m), m.end)}
		return r, p.firstMessage(s, r, m)
	case "request_body":
		body := p.body()
		if m.part[1] >= 0 {
			body = body[:min(m.part[1], len(body))]
		}
		b := &extprocv3.HttpBody{Body: body[min(m.part[0], len(body)):], EndOfStream: m.end}
		r.Request = &extprocv3.ProcessingRequest_RequestBody{RequestBody: b}
	case "response_headers":
		h := headers(withDefaults(m.header, []headerLine{{":status", "200"}, {"content-type", "application/json"}}), m.end)
		r.Request = &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: h}
		return r, p.answerAttributes(s, r, m)
	case "response_body":
		body := ticketBody(p.key)
		if status := first(m.header, ":status"); status != "" && status != "201" {
			body = []byte("{}")
		}
		r.Request = &extprocv3.ProcessingRequest_ResponseBody{ResponseBody: &extprocv3.HttpBody{Body: body, EndOfStream: m.end}}
	}
	return r, nil
}

func (p *player) requestHeader(m *envoyMessage) []headerLine {
	id := fmt.Sprintf("%s-%d-%d", p.run.script.ID, p.key, len(p.streams))
	return withDefaults(m.header, []headerLine{
		{":method", "POST"}, {":path", "/api/now/table/incident"}, {":scheme", "http"}, {":authority", "snow.example.test"},
		{"content-type", "application/json"}, {"authorization", "Basic Ym90OnMzY3JldA=="}, {"x-request-id", id},
	})
}

// firstMessage adds what only the first message of a stream carries.
func (p *player) firstMessage(s *stream, r *extprocv3.ProcessingRequest, m *envoyMessage) error {
	name := m.mode
	if name == "" && p.now == s {
		name = p.mode
	}
	mode, err := bodyMode(name)
	if err != nil {
		return err
	}
	r.ProtocolConfig = &extprocv3.ProtocolConfiguration{RequestBodyMode: mode, ResponseBodyMode: mode}
	r.Attributes, err = s.attributesOf(map[string]any{"request.method": "POST", "request.host": "snow.example.test"})
	return err
}

// answerAttributes adds what Envoy tells of an answer, where the line has it
// or says nothing of it.
func (p *player) answerAttributes(s *stream, r *extprocv3.ProcessingRequest, m *envoyMessage) error {
	attributes := map[string]any{"response.code": atoiOr(first(m.header, ":status"), 200)}
	switch {
	case m.attributes:
		attributes["response.code_details"] = m.details
		attributes["response.flags"] = m.flags
		attributes["upstream.request_attempt_count"] = m.attempts
	case p.each:
		return nil
	default:
		attributes["response.code_details"] = "via_upstream"
		attributes["response.flags"] = 0
		attributes["upstream.request_attempt_count"] = 1
	}
	var err error
	r.Attributes, err = s.attributesOf(attributes)
	return err
}
