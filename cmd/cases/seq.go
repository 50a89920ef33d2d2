package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A sequence is one *.seq file: messages from Envoy, what the sidecar must
// answer, and what must be true then.
type sequence struct {
	ID, Title string
	Lines     []seqLine
}

// A seqLine is one line: kind is "E>", "S<", "=" or "#".
type seqLine struct{ kind, text string }

func parseSequence(text string) (*sequence, error) {
	q := &sequence{}
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		kind, rest, _ := strings.Cut(l, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case l == "":
		case oneOf(kind, "E>", "S<", "=", "#"):
			q.Lines = append(q.Lines, seqLine{kind, rest})
		case kind == "case:":
			q.ID = rest
		case kind == "title:":
			q.Title = rest
		case oneOf(kind, "reports:", "note:", "profile:"):
		default:
			return nil, fmt.Errorf("%q is no line of a sequence", l)
		}
	}
	if q.ID == "" || len(q.Lines) == 0 {
		return nil, fmt.Errorf("no case, or no lines")
	}
	return q, nil
}

// An envoyMessage is one message from Envoy as an E> line has it.
type envoyMessage struct {
	name   string // request_headers, request_body, response_headers, response_body
	header []headerLine
	mode   string // protocol_config
	end    bool
	part   [2]int // of BODY; -1 = to the end

	details         string // attributes of an answer
	flags, attempts int
	attributes      bool // whether the attributes are sent
}

var messageNames = []string{"request_headers", "request_body", "response_headers", "response_body"}

// parseMessages reads the messages of an E> line.
func parseMessages(text string) ([]*envoyMessage, error) {
	var out []*envoyMessage
	for _, phrase := range phrases(text) {
		words := strings.Fields(phrase)
		if len(words) > 0 && oneOf(words[0], messageNames...) {
			out = append(out, &envoyMessage{name: words[0], part: [2]int{0, -1}, end: strings.HasSuffix(words[0], "_body")})
			words = words[1:]
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("%q begins with no message", text)
		}
		if err := out[len(out)-1].words(words); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	return out, nil
}

// phrases splits at commas; what stands in round brackets is a phrase of its
// own, or a remark.
func phrases(text string) []string {
	text = strings.NewReplacer(" (", ", ", ")", "").Replace(text)
	return list(text)
}

var bodyPart = regexp.MustCompile(`^BODY\[(\d*):(\d*)\]$`)

func (m *envoyMessage) words(words []string) error {
	for i := 0; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		used, err := m.word(words[i], next, strings.Join(words, " "))
		if err != nil {
			return err
		}
		i += used
	}
	return nil
}

// word reads one word and says how many of the following it took.
func (m *envoyMessage) word(word, next, phrase string) (int, error) {
	var err error
	switch {
	case word == "end_of_stream":
		m.end = next == "true"
	case word == "protocol_config":
		m.mode = next
	case word == "code_details":
		m.details, m.attributes = next, true
	case word == "flags":
		m.flags, err = strconv.Atoi(next)
		m.attributes = true
	case word == "attempt":
		m.attempts, err = strconv.Atoi(next)
		m.attributes = true
	case bodyPart.MatchString(word):
		p := bodyPart.FindStringSubmatch(word)
		m.part = [2]int{atoiOr(p[1], 0), atoiOr(p[2], -1)}
		return 0, nil
	case phrase == "no attributes sent", phrase == "whole", phrase == "create route":
		return len(strings.Fields(phrase)), nil
	case next != "" && strings.HasSuffix(m.name, "_headers"):
		m.header = append(m.header, headerLine{word, next})
	default:
		return 0, fmt.Errorf("%q is not understood", word)
	}
	return 1, err
}

func atoiOr(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}

// A remark says in words under which conditions the next lines stand.
type remark struct {
	form  *regexp.Regexp
	apply func(p *player, m []string) error
}

var remarks = []remark{
	{regexp.MustCompile(`configuration says: (envoy \{[^}]*\})`), func(p *player, m []string) error { return p.reconfigure(m[1]) }},
	{regexp.MustCompile(`each on its own stream and key, after a forwarded create`), func(p *player, _ []string) error { p.each = true; return nil }},
	{regexp.MustCompile(`BODY is a \w+ create of ([\d.]+) MiB`), func(p *player, m []string) error { return p.enlarge(m[1]) }},
	{regexp.MustCompile(`the same key is in flight elsewhere and will be for (\w+ ?\w*)`), func(p *player, m []string) error { return p.elsewhere(m[1]) }},
	{regexp.MustCompile(`timer for a waiting duplicate ends at the very moment`), func(p *player, _ []string) error { return p.elsewhere(profileWait) }},
	{regexp.MustCompile(`\bother key\b`), func(p *player, _ []string) error { p.nextKey(); return nil }},
	{regexp.MustCompile(`^an internal panic\b`), func(p *player, _ []string) error { p.skip = true; return nil }},
	{regexp.MustCompile(`request_body_mode (\w+)`), func(p *player, m []string) error { p.mode = m[1]; return nil }},
	{regexp.MustCompile(`^no body$`), func(p *player, _ []string) error { p.nextKey(); return nil }},
}

// profileWait is how long a duplicate waits by the profiles.
const profileWait = "5s"

// remark applies all that a # line says.
func (p *player) remark(text string) error {
	p.skip = false
	for _, r := range remarks {
		if m := r.form.FindStringSubmatch(text); m != nil {
			if err := r.apply(p, m); err != nil {
				return fmt.Errorf("%q: %w", text, err)
			}
		}
	}
	return nil
}

// playSequence plays one sequence against the gRPC side of a running oneticket.
func playSequence(ctx context.Context, env environment, text string) result {
	q, err := parseSequence(text)
	if err != nil {
		return result{ID: idOf(text), Findings: []finding{{"file", "a sequence", err.Error()}}}
	}
	p, err := newPlayer(ctx, env, q)
	defer p.close()
	if err == nil {
		err = p.play(q)
	}
	if err != nil {
		p.run.found("runner", "the sequence played", err.Error())
	}
	return result{ID: q.ID, Title: q.Title, Findings: p.run.findings, Notes: p.run.notes, Log: p.run.log()}
}

func (p *player) play(q *sequence) error {
	for _, l := range q.Lines {
		if err := p.line(l); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) line(l seqLine) error {
	if p.skip && l.kind != "#" {
		p.run.note("not checked: " + l.kind + " " + l.text)
		return nil
	}
	switch l.kind {
	case "#":
		return p.remark(l.text)
	case "E>":
		return p.envoy(l.text)
	case "S<":
		p.sidecar(l.text)
		return nil
	default:
		return p.claims(l.text)
	}
}

// within takes a leading "within 150 ms:" off an S< line.
func within(text string) (time.Duration, string) {
	m := withinForm.FindStringSubmatch(text)
	if m == nil {
		return 0, text
	}
	d, err := parseDuration(m[1])
	if err != nil {
		return 0, text
	}
	return d, m[2]
}

var withinForm = regexp.MustCompile(`^within (\d+ ?m?s): (.*)$`)
