package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A send is one request of a client, as the file has it.
type send struct {
	Number  int
	Client  string
	Group   string // all sends of a group start at one instant
	Abort   time.Duration
	Line    string // the request line
	Header  []headerLine
	Body    []byte // encoded
	Chunk   int    // 0 = Content-Length
	Trailer *headerLine
}

// A headerLine is one line of a header as it stands.
type headerLine struct{ Name, Value string }

// A script is a scripted behaviour of the backend for one request.
type script struct {
	Number int
	Until  time.Duration // of the case's clock; every create before it
	Commit string        // yes, no, first, late; "" = as the answer's status says
	Delay  time.Duration
	Reset  string // before, after; no answer
	Answer *answer
}

// An answer is one HTTP answer, on either side.
type answer struct {
	Status int
	Line   string
	Header []headerLine
	Body   []byte
}

// get returns the values of every header line of that name.
func get(lines []headerLine, name string) []string {
	var values []string
	for _, h := range lines {
		if strings.EqualFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return values
}

func first(lines []headerLine, name string) string {
	if v := get(lines, name); len(v) > 0 {
		return v[0]
	}
	return ""
}

var repeat = regexp.MustCompile(`(?s)\{\{repeat:(.*?):(\d+)\}\}`)

// expand writes out {{repeat:TEXT:COUNT}}.
func expand(s string) string {
	return repeat.ReplaceAllStringFunc(s, func(m string) string {
		part := repeat.FindStringSubmatch(m)
		n, err := strconv.Atoi(part[2])
		if err != nil {
			return m
		}
		return strings.Repeat(part[1], n)
	})
}

// parseMessage splits a block's text into first line, header and body.
func parseMessage(text string) (line string, header []headerLine, body string, err error) {
	head, body, _ := strings.Cut(text, "\n\n")
	body = expand(body)
	for i, l := range strings.Split(strings.TrimSuffix(head, "\n"), "\n") {
		if i == 0 {
			line = l
			continue
		}
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			return "", nil, "", fmt.Errorf("%q is no header line", l)
		}
		header = append(header, headerLine{name, strings.TrimPrefix(expand(value), " ")})
	}
	return line, header, body, nil
}

func parseSend(n int, b *block) (*send, error) {
	line, header, body, err := parseMessage(b.text)
	if err != nil {
		return nil, err
	}
	s := &send{Number: n, Client: "a", Line: line, Header: header, Group: b.arg("par")}
	if len(strings.Fields(line)) != 3 {
		return nil, fmt.Errorf("%q is no request line", line)
	}
	if c := b.arg("client"); c != "" {
		s.Client = c
	}
	if v := b.arg("http"); v != "" {
		s.Line = line[:strings.LastIndex(line, "/")+1] + v
	}
	if a := b.arg("abort"); a != "" {
		if s.Abort, err = parseDuration(a); err != nil {
			return nil, err
		}
	}
	if err := s.framing(b); err != nil {
		return nil, err
	}
	s.Body, err = encode(body, b.arg("encode"))
	return s, err
}

func (s *send) framing(b *block) error {
	if f := b.arg("framing"); f != "" {
		size, ok := strings.CutPrefix(f, "chunked:")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n < 1 {
			return fmt.Errorf("unknown framing %q", f)
		}
		s.Chunk = n
	}
	if t := b.arg("trailer"); t != "" {
		name, value, _ := strings.Cut(t, ":")
		s.Trailer = &headerLine{name, value}
	}
	return nil
}

// encode turns the body of the file into the bytes to be sent.
func encode(body, how string) ([]byte, error) {
	data := []byte(body)
	for _, step := range strings.FieldsFunc(how, func(r rune) bool { return r == ',' || r == '+' }) {
		name, arg, _ := strings.Cut(step, ":")
		var err error
		switch name {
		case "gzip":
			data, err = zip(data, arg)
		case "latin1":
			data, err = latin1(data)
		case "bom":
			data = append([]byte("\xef\xbb\xbf"), data...)
		case "base64":
			data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), ""))
		default:
			err = fmt.Errorf("unknown encoding %q", step)
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

func zip(data []byte, level string) ([]byte, error) {
	n := gzip.DefaultCompression
	if level != "" {
		var err error
		if n, err = strconv.Atoi(level); err != nil {
			return nil, fmt.Errorf("unknown gzip level %q", level)
		}
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, n)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func latin1(data []byte) ([]byte, error) {
	out := make([]byte, 0, len(data))
	for _, r := range string(data) {
		if r > 0xff {
			return nil, fmt.Errorf("%q is not in latin1", r)
		}
		out = append(out, byte(r))
	}
	return out, nil
}

// parseScript reads a backend or lookup block. An empty block has no answer of
// its own: the profile's default goes out.
func parseScript(b *block) (*script, error) {
	s := &script{Commit: b.arg("commit"), Reset: b.arg("reset")}
	if !oneOf(s.Commit, "", "yes", "no", "first", "late") || !oneOf(s.Reset, "", "before", "after") {
		return nil, fmt.Errorf("unknown commit %q or reset %q", s.Commit, s.Reset)
	}
	var err error
	if d := b.arg("delay"); d != "" {
		if s.Delay, err = parseDuration(d); err != nil {
			return nil, err
		}
	}
	if u := b.arg("until"); u != "" {
		if s.Until, err = parseDuration(u); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(b.text) == "" {
		return s, nil
	}
	s.Answer, err = parseAnswer(b.text)
	return s, err
}

func oneOf(s string, allowed ...string) bool {
	for _, a := range allowed {
		if s == a {
			return true
		}
	}
	return false
}

func parseAnswer(text string) (*answer, error) {
	line, header, body, err := parseMessage(text)
	if err != nil {
		return nil, err
	}
	words := strings.SplitN(line, " ", 3)
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/") {
		return nil, fmt.Errorf("%q is no status line", line)
	}
	status, err := strconv.Atoi(words[1])
	if err != nil {
		return nil, fmt.Errorf("%q is no status line", line)
	}
	return &answer{Status: status, Line: line, Header: header, Body: []byte(body)}, nil
}
