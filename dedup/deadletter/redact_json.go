package deadletter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"oneticket/dedup"
)

// A jsonCleaner copies JSON text and replaces the values of some members;
// every other byte stays. It is given only what dedup.ReadJSON has read, so it
// does not check again what it passes over.
type jsonCleaner struct {
	text  []byte
	pos   int
	out   bytes.Buffer
	from  int // what is not copied yet begins here
	paths []string
	whole bool // a value is passed over that is replaced as a whole
	with  func(path string) (string, bool)
	found []string
}

func replaceJSON(text []byte, paths []string, with func(string) (string, bool)) ([]byte, []string, bool) {
	if _, err := dedup.ReadJSON(text, dedup.NewWant()); err != nil {
		return nil, nil, false
	}
	c := jsonCleaner{text: text, paths: paths, with: with}
	c.pos = len(text) - len(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")))
	c.value("")
	c.out.Write(c.text[c.from:])
	return c.out.Bytes(), c.found, true
}

// value passes over one value; path is where it stands.
func (c *jsonCleaner) value(path string) {
	c.space()
	start := c.pos
	chosen := !c.whole && path != "" && slices.Contains(c.paths, path)
	c.whole = c.whole || chosen
	switch c.peek() {
	case '{':
		c.members(path)
	case '[':
		c.items(path)
	case '"':
		c.quoted()
	default:
		for c.pos < len(c.text) && !strings.ContainsRune(",]} \t\r\n", rune(c.text[c.pos])) {
			c.pos++
		}
	}
	if chosen {
		c.whole = false
		c.replace(path, start)
	}
}

func (c *jsonCleaner) replace(path string, start int) {
	if string(c.text[start:c.pos]) == "null" {
		return
	}
	if !slices.Contains(c.found, path) {
		c.found = append(c.found, path)
	}
	value, has := c.with(path)
	if !has {
		return
	}
	quoted, _ := json.Marshal(value) // a string always can
	c.out.Write(c.text[c.from:start])
	c.out.Write(quoted)
	c.from = c.pos
}

func (c *jsonCleaner) members(path string) {
	c.pos++
	for c.space(); c.peek() != '}' && c.pos < len(c.text); c.space() {
		name := c.quoted()
		c.space()
		c.pos++ // the colon
		c.value(join(path, name))
		c.comma()
	}
	c.pos++
}

// items are of no index: "list.password" is the member of each item.
func (c *jsonCleaner) items(path string) {
	c.pos++
	for c.space(); c.peek() != ']' && c.pos < len(c.text); c.space() {
		c.value(path)
		c.comma()
	}
	c.pos++
}

func (c *jsonCleaner) comma() {
	if c.space(); c.peek() == ',' {
		c.pos++
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// quoted passes over a string and returns what it says.
func (c *jsonCleaner) quoted() string {
	start := c.pos
	for c.pos++; c.pos < len(c.text) && c.text[c.pos] != '"'; c.pos++ {
		if c.text[c.pos] == '\\' {
			c.pos++
		}
	}
	c.pos = min(c.pos+1, len(c.text))
	var s string
	if json.Unmarshal(c.text[start:c.pos], &s) != nil {
		return string(c.text[start:c.pos])
	}
	return s
}

func (c *jsonCleaner) space() {
	for c.pos < len(c.text) && strings.IndexByte(" \t\r\n", c.text[c.pos]) >= 0 {
		c.pos++
	}
}

func (c *jsonCleaner) peek() byte {
	if c.pos < len(c.text) {
		return c.text[c.pos]
	}
	return 0
}
