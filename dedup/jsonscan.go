package dedup

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonScanner passes over the tokens of a JSON text. Each method that
// reports false leaves the position at the byte that no JSON has there.
type jsonScanner struct {
	text []byte
	pos  int
}

// peek returns the byte at the position; at the end it is 0, which no JSON has.
func (s *jsonScanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *jsonScanner) space() {
	for s.pos < len(s.text) && isBlank(s.text[s.pos]) {
		s.pos++
	}
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// first reports whether anything stands between the brackets of which the
// first is behind us; when not, it passes over the last.
func (s *jsonScanner) first(last byte) (more, ok bool) {
	s.space()
	if s.peek() != last {
		return true, true
	}
	s.pos++
	return false, true
}

// next passes over a comma or the last bracket.
func (s *jsonScanner) next(last byte) (more, ok bool) {
	s.space()
	c := s.peek()
	if c != ',' && c != last {
		return false, false
	}
	s.pos++
	return c == ',', true
}

func (s *jsonScanner) colon() bool {
	s.space()
	if s.peek() != ':' {
		return false
	}
	s.pos++
	return true
}

// scalar passes over a string, a number or a word.
func (s *jsonScanner) scalar() (kind ValueKind, escaped, ok bool) {
	switch c := s.peek(); {
	case c == '"':
		escaped, ok = s.scanString()
		return StringValue, escaped, ok
	case c == 't':
		return BoolValue, false, s.word("true")
	case c == 'f':
		return BoolValue, false, s.word("false")
	case c == 'n':
		return NullValue, false, s.word("null")
	case c == 'N':
		return MissingValue, false, s.word("NaN")
	case c == 'I':
		return MissingValue, false, s.word("Infinity")
	case c == '-' && s.pos+1 < len(s.text) && s.text[s.pos+1] == 'I':
		return MissingValue, false, s.word("-Infinity")
	default:
		return NumberValue, false, s.number()
	}
}

func (s *jsonScanner) word(word string) bool {
	for i := range len(word) {
		if s.peek() != word[i] {
			return false
		}
		s.pos++
	}
	return true
}

func (s *jsonScanner) number() bool {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c != 'e' && c != 'E' {
		return true
	}
	s.pos++
	if c := s.peek(); c == '+' || c == '-' {
		s.pos++
	}
	return s.digits()
}

// digits passes over at least one digit.
func (s *jsonScanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// scanString passes over a string whose first quote is at the position.
func (s *jsonScanner) scanString() (escaped, ok bool) {
	s.pos++
	for {
		s.pos = plainUntil(s.text, s.pos)
		switch s.peek() {
		case '"':
			s.pos++
			return escaped, true
		case '\\':
			escaped = true
			if !s.escape() {
				return escaped, false
			}
		default:
			return escaped, false
		}
	}
}

func (s *jsonScanner) escape() bool {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return true
	case 'u':
		s.pos++
	default:
		return false
	}
	for range 4 {
		if _, ok := hexDigit(s.peek()); !ok {
			return false
		}
		s.pos++
	}
	return true
}

const (
	eachByte = 0x0101010101010101
	topBits  = 0x80 * eachByte
)

// plainUntil returns the index, from i on, of the first byte that does not
// stand for itself in a string: a quote, a backslash or a control character.
// It looks at eight bytes at a time; where a borrow marks a byte wrongly, a
// byte below it is marked rightly.
func plainUntil(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		quote, slash := word^('"'*eachByte), word^('\\'*eachByte)
		found := (word-0x20*eachByte)&^word | (quote-eachByte)&^quote | (slash-eachByte)&^slash
		if found &= topBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// appendUnescaped appends what stands between the quotes of a string that was
// passed over.
func appendUnescaped(to, raw []byte) []byte {
	for len(raw) > 0 {
		plain := plainUntil(raw, 0)
		to = append(to, raw[:plain]...)
		if raw = raw[plain:]; len(raw) == 0 {
			break
		}
		if raw[1] != 'u' {
			to = append(to, unescaped(raw[1]))
			raw = raw[2:]
			continue
		}
		to, raw = appendUnescapedRune(to, raw)
	}
	return to
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c
	}
}

// appendUnescapedRune reads a \u escape, or two of them that are a surrogate pair.
func appendUnescapedRune(to, raw []byte) (appended, rest []byte) {
	r := hexRune(raw[2:6])
	raw = raw[6:]
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(to, r), raw
	}
	if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
		if pair := utf16.DecodeRune(r, hexRune(raw[2:6])); pair != utf8.RuneError {
			return utf8.AppendRune(to, pair), raw[6:]
		}
	}
	// Half a pair: its three bytes are no UTF-8, but they are its own.
	return append(to, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F), raw
}

func hexRune(digits []byte) rune {
	var r rune
	for _, c := range digits {
		digit, _ := hexDigit(c)
		r = r<<4 | rune(digit)
	}
	return r
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}
