package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
)

// sidecar checks what an S< line says of the answers since the last E> line.
func (p *player) sidecar(text string) {
	s := p.now
	if s == nil {
		p.run.found("S< "+text, "a stream", "none")
		return
	}
	limit, rest := within(text)
	if strings.HasPrefix(rest, "the stream ends with a gRPC error status") {
		if s.await(seqPatience); s.end == nil {
			p.run.found("S< "+text, "an error", "none")
		}
		return
	}
	answer := p.answerTo(s, limit, rest)
	if limit > 0 && time.Since(s.lastSent) > limit {
		p.run.found("S< "+text, "an answer within "+limit.String(), time.Since(s.lastSent).String())
	}
	for _, alternative := range strings.Split(rest, ", or ") {
		if p.fits(s, answer, alternative) {
			return
		}
	}
	p.run.found("S< "+text, rest, describe(answer))
}

// answerTo waits for what the line is about: the first thing that comes where
// the line speaks of time or of an override, else all answers.
func (p *player) answerTo(s *stream, limit time.Duration, text string) *extprocv3.ProcessingResponse {
	if limit > 0 {
		return s.firstAnswer(seqPatience)
	}
	if !s.await(seqPatience) {
		return nil
	}
	return s.last
}

// fits compares an answer with one alternative of a line.
func (p *player) fits(s *stream, a *extprocv3.ProcessingResponse, text string) bool {
	text = strings.TrimPrefix(text, "an ")
	switch {
	case a == nil:
		return false
	case strings.HasPrefix(text, "at most one override_message_timeout, then exactly one answer"):
		return s.overrides <= 1 && s.extra() == 0
	case strings.HasPrefix(text, "override_message_timeout"):
		return a.GetOverrideMessageTimeout() != nil
	case strings.HasPrefix(text, "immediate_response"):
		return fitsImmediate(a.GetImmediateResponse(), text)
	case strings.HasPrefix(text, "key injected"):
		return injected(a)
	}
	phase := ""
	if m := phaseForm.FindStringSubmatch(text); m != nil {
		phase = m[1]
	}
	if phase != "" && phaseOf(a) != phase {
		return false
	}
	if strings.Contains(text, "no mutation") && mutates(a) {
		return false
	}
	return common(a) != nil && common(a).GetStatus() == extprocv3.CommonResponse_CONTINUE && (phase != "" || strings.HasPrefix(text, "CONTINUE"))
}

var (
	phaseForm     = regexp.MustCompile(`^(request_headers|request_body|response_headers|response_body) response`)
	immediateForm = regexp.MustCompile(`^immediate_response (\d+)`)
)

func fitsImmediate(i *extprocv3.ImmediateResponse, text string) bool {
	if i == nil {
		return false
	}
	if m := immediateForm.FindStringSubmatch(text); m != nil && fmt.Sprint(int32(i.GetStatus().GetCode())) != m[1] {
		return false
	}
	return !strings.Contains(text, "with Retry-After") || setHeader(i.GetHeaders().GetSetHeaders(), "retry-after") != ""
}

func setHeader(options []*corev3.HeaderValueOption, name string) string {
	for _, o := range options {
		if strings.EqualFold(o.GetHeader().GetKey(), name) {
			if raw := o.GetHeader().GetRawValue(); len(raw) > 0 {
				return string(raw)
			}
			return o.GetHeader().GetValue()
		}
	}
	return ""
}

func phaseOf(a *extprocv3.ProcessingResponse) string {
	switch a.GetResponse().(type) {
	case *extprocv3.ProcessingResponse_RequestHeaders:
		return "request_headers"
	case *extprocv3.ProcessingResponse_RequestBody:
		return "request_body"
	case *extprocv3.ProcessingResponse_ResponseHeaders:
		return "response_headers"
	case *extprocv3.ProcessingResponse_ResponseBody:
		return "response_body"
	case *extprocv3.ProcessingResponse_ImmediateResponse:
		return "immediate_response"
	default:
		return "no answer"
	}
}

// common is the part that all answers but an immediate one have. A message
// with nothing in it is a plain CONTINUE.
func common(a *extprocv3.ProcessingResponse) *extprocv3.CommonResponse {
	var c *extprocv3.CommonResponse
	switch r := a.GetResponse().(type) {
	case *extprocv3.ProcessingResponse_RequestHeaders:
		c = r.RequestHeaders.GetResponse()
	case *extprocv3.ProcessingResponse_RequestBody:
		c = r.RequestBody.GetResponse()
	case *extprocv3.ProcessingResponse_ResponseHeaders:
		c = r.ResponseHeaders.GetResponse()
	case *extprocv3.ProcessingResponse_ResponseBody:
		c = r.ResponseBody.GetResponse()
	default:
		return nil
	}
	if c == nil {
		return &extprocv3.CommonResponse{}
	}
	return c
}

func mutates(a *extprocv3.ProcessingResponse) bool {
	c := common(a)
	return c.GetHeaderMutation() != nil || c.GetBodyMutation() != nil
}

// injected reports whether an answer lets a create go, with the key.
func injected(a *extprocv3.ProcessingResponse) bool {
	return setHeader(common(a).GetHeaderMutation().GetSetHeaders(), "idempotency-key") != ""
}

func describe(a *extprocv3.ProcessingResponse) string {
	switch {
	case a == nil:
		return "nothing"
	case a.GetOverrideMessageTimeout() != nil:
		return "override_message_timeout " + a.GetOverrideMessageTimeout().AsDuration().String()
	case a.GetImmediateResponse() != nil:
		i := a.GetImmediateResponse()
		return fmt.Sprintf("immediate_response %d, %s", i.GetStatus().GetCode(), setHeader(i.GetHeaders().GetSetHeaders(), "oneticket-decision"))
	case injected(a):
		return phaseOf(a) + " response, CONTINUE, key injected"
	case mutates(a):
		return phaseOf(a) + " response, CONTINUE, mutations"
	}
	return phaseOf(a) + " response, CONTINUE, no mutation"
}
