package main

import (
	"fmt"
	"strconv"
	"strings"
)

// A testCase is one *.http file: what clients send, what the backend answers,
// and what each client must see.
type testCase struct {
	ID, Title, Profile string
	Config             []string // what the case needs on top of its profile
	Never              []string
	Expect             []expectation

	Steps   []step // sends and human acts, in the order of the file
	Create  []*script
	LookUp  map[int]*script // by the number of the GET
	Update  map[int]*script // by the number of the request on an update route
	Wants   map[int]*want
	Aborted map[int]bool // sends whose client leaves without an answer
}

// A step is a send or a human act.
type step struct {
	At    moment
	Send  *send
	Human string
}

// A block is one "### NAME ARGS" section.
type block struct {
	name string
	args []string
	text string
	line int
}

// arg returns the value of KEY=VALUE, or "".
func (b *block) arg(key string) string {
	for _, a := range b.args {
		if k, v, ok := strings.Cut(a, "="); ok && k == key {
			return v
		}
	}
	return ""
}

// number returns the first argument as a number.
func (b *block) number() (int, error) {
	if len(b.args) == 0 {
		return 0, fmt.Errorf("line %d: ### %s has no number", b.line, b.name)
	}
	n, err := strconv.Atoi(b.args[0])
	if err != nil {
		return 0, fmt.Errorf("line %d: ### %s: %q is no number", b.line, b.name, b.args[0])
	}
	return n, nil
}

// parseCase reads one case file.
func parseCase(text string) (*testCase, error) {
	c := &testCase{LookUp: map[int]*script{}, Update: map[int]*script{}, Wants: map[int]*want{}, Aborted: map[int]bool{}}
	head, blocks := splitBlocks(text)
	if err := c.head(head); err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if err := c.block(b); err != nil {
			return nil, err
		}
	}
	for n := range c.Wants {
		if c.Aborted[n] {
			return nil, fmt.Errorf("want %d: send %d is aborted and sees nothing", n, n)
		}
	}
	return c, nil
}

// splitBlocks cuts a file into its head and its "### " blocks.
func splitBlocks(text string) (head string, blocks []*block) {
	var now *block
	var part strings.Builder
	end := func() {
		if now == nil {
			head = part.String()
		} else {
			now.text = strings.TrimSuffix(part.String(), "\n")
		}
		part.Reset()
	}
	line := 0
	for l := range strings.Lines(text) {
		line++
		title, ok := strings.CutPrefix(l, "### ")
		if !ok {
			part.WriteString(l)
			continue
		}
		end()
		words := strings.Fields(title)
		now = &block{line: line}
		if len(words) > 0 {
			now.name, now.args = words[0], words[1:]
		}
		blocks = append(blocks, now)
	}
	end()
	return head, blocks
}

// head reads the "key: value" lines before the first block.
func (c *testCase) head(text string) error {
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		key, value, ok := strings.Cut(l, ":")
		value = strings.TrimSpace(value)
		if !ok {
			return fmt.Errorf("head: %q is not key: value", l)
		}
		switch key {
		case "case":
			c.ID = value
		case "title":
			c.Title = value
		case "profile":
			c.Profile = value
		case "config":
			c.Config = append(c.Config, value)
		case "never":
			c.Never = append(c.Never, value)
		case "expect":
			e, err := parseExpectation(value)
			if err != nil {
				return err
			}
			c.Expect = append(c.Expect, e)
		case "note", "reports":
		default:
			return fmt.Errorf("head: unknown key %q", key)
		}
	}
	if c.ID == "" || c.Profile == "" {
		return fmt.Errorf("head: no case or no profile")
	}
	return nil
}

func (c *testCase) block(b *block) error {
	switch b.name {
	case "send":
		return c.sendBlock(b)
	case "human":
		at, err := parseMoment(b.arg("at"))
		if err != nil {
			return fmt.Errorf("line %d: %w", b.line, err)
		}
		c.Steps = append(c.Steps, step{At: at, Human: strings.TrimSpace(b.text)})
		return nil
	case "backend":
		return c.backendBlock(b)
	case "lookup":
		n, err := b.number()
		if err != nil {
			return err
		}
		s, err := parseScript(b)
		c.LookUp[n] = s
		return err
	case "want":
		n, err := b.number()
		if err != nil {
			return err
		}
		w, err := parseWant(b.text)
		if err != nil {
			return fmt.Errorf("want %d: %w", n, err)
		}
		c.Wants[n] = w
		return nil
	default:
		return fmt.Errorf("line %d: unknown block %q", b.line, b.name)
	}
}

func (c *testCase) sendBlock(b *block) error {
	n, err := b.number()
	if err != nil {
		return err
	}
	s, err := parseSend(n, b)
	if err != nil {
		return fmt.Errorf("send %d: %w", n, err)
	}
	at, err := parseMoment(b.arg("at"))
	if err != nil {
		return fmt.Errorf("send %d: %w", n, err)
	}
	c.Aborted[n] = s.Abort > 0
	c.Steps = append(c.Steps, step{At: at, Send: s})
	return nil
}

// backendBlock files a scripted answer: by number, until a moment, or for an
// update route.
func (c *testCase) backendBlock(b *block) error {
	s, err := parseScript(b)
	if err != nil {
		return fmt.Errorf("backend, line %d: %w", b.line, err)
	}
	if s.Until > 0 {
		c.Create = append(c.Create, s)
		return nil
	}
	if len(b.args) > 0 {
		if rest, ok := strings.CutPrefix(b.args[0], "update-"); ok {
			n, err := strconv.Atoi(rest)
			if err != nil {
				return fmt.Errorf("backend, line %d: %q is no number", b.line, rest)
			}
			c.Update[n] = s
			return nil
		}
	}
	if s.Number, err = b.number(); err != nil {
		return err
	}
	c.Create = append(c.Create, s)
	return nil
}
