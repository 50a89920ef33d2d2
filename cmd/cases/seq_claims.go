package main

import (
	"fmt"
	"regexp"
	"strings"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
)

// A seqClaim is one kind of statement of a "=" line.
type seqClaim struct {
	form  *regexp.Regexp
	check func(p *player, m []string) (saw string, ok bool, err error)
}

var seqClaims = []seqClaim{
	{regexp.MustCompile(`^(?:the record is )?complete\b`), probed("complete")},
	{regexp.MustCompile(`^(?:the record is )?in doubt\b`), probed("in doubt")},
	{regexp.MustCompile(`\(default: in doubt\b`), probed("in doubt")},
	{regexp.MustCompile(`^released\b`), probed("free")},
	{regexp.MustCompile(`^nothing claimed\b`), probed("free")},
	{regexp.MustCompile(`^exactly one answer for each message`), oneAnswerEach},
	{regexp.MustCompile(`^never two answers for one message`), oneAnswerEach},
	{regexp.MustCompile(`\bunkeyed counted with the reason (\w+)`), unkeyedCounted},
	{regexp.MustCompile(`^/ready says so`), readySays},
	{regexp.MustCompile(`\bno error in the log\b`), noErrorInLog},
}

// claims checks what a "=" line says. A statement that cannot be checked from
// outside is said to be so.
func (p *player) claims(text string) error {
	for _, part := range claimParts(text) {
		known := false
		for _, c := range seqClaims {
			m := c.form.FindStringSubmatch(part)
			if m == nil {
				continue
			}
			known = true
			saw, ok, err := c.check(p, m)
			if err != nil {
				return err
			}
			if !ok {
				p.run.found("= "+text, part, saw)
			}
		}
		if !known {
			p.run.note("not checked: = " + part)
		}
	}
	return nil
}

// claimParts splits at semicolons and before "unkeyed", which stands in a list.
func claimParts(text string) []string {
	text = strings.ReplaceAll(text, ", unkeyed ", "; unkeyed ")
	var out []string
	for _, part := range strings.Split(text, ";") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

// probed sends the same create on a new stream and tells by the answer what
// the record is.
func probed(wanted string) func(*player, []string) (string, bool, error) {
	return func(p *player, _ []string) (string, bool, error) {
		s, err := p.open()
		if err != nil {
			return "", false, err
		}
		defer s.cancel()
		if err := p.create(s); err != nil {
			return "", false, err
		}
		state := stateBy(s.last)
		return fmt.Sprintf("%s (%s)", state, describe(s.last)), state == wanted, nil
	}
}

// stateBy is what an answer to the same create says of the record.
func stateBy(a *extprocv3.ProcessingResponse) string {
	i := a.GetImmediateResponse()
	switch {
	case injected(a):
		return "free"
	case i == nil:
		return "passed"
	case strings.EqualFold(setHeader(i.GetHeaders().GetSetHeaders(), markerName), "true"):
		return "complete"
	case int32(i.GetStatus().GetCode()) == 503:
		return "in doubt"
	}
	return "something else"
}

func oneAnswerEach(p *player, _ []string) (string, bool, error) {
	if p.now == nil {
		return "", true, nil
	}
	extra := p.now.extra()
	return fmt.Sprintf("%d answers to %d messages", p.now.answered, p.now.sent), extra == 0 || extra < 0 && p.now.over, nil
}

func unkeyedCounted(p *player, m []string) (string, bool, error) {
	p.reason = m[1]
	text, err := fetch("http://" + p.run.products[0].admin + "/metrics")
	if err != nil {
		return "", false, err
	}
	n := series{"oneticket_unkeyed_total", []string{fmt.Sprintf("why=%q", m[1])}}.sum(text)
	return fmt.Sprintf("%v counted", n), n > 0, nil
}

func readySays(p *player, _ []string) (string, bool, error) {
	text, err := fetch("http://" + p.run.products[0].admin + "/ready")
	if err != nil {
		return "", false, err
	}
	return quote(text), strings.Contains(text, p.reason) || strings.Contains(text, strings.ReplaceAll(p.reason, "_", " ")), nil
}

var errorLine = regexp.MustCompile(`(?m)^.*(?:level=ERROR|"level":"ERROR").*$`)

func noErrorInLog(p *player, _ []string) (string, bool, error) {
	bad := errorLine.FindString(p.run.log())
	return quote(bad), bad == "", nil
}
