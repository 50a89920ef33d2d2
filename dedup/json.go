package dedup

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// ErrJSON: the text is not one JSON value. The error that wraps it names the
// byte at which it ceases to be one, and never a part of the text.
var ErrJSON = errors.New("not JSON")

// ErrStopped: the text was not read to its end.
var ErrStopped = errors.New("reading JSON was stopped")

const (
	maxDepth = 512 // of nested objects and lists

	// maxValues bounds what is built: a list of two million zeros is a small
	// body and would be a large Value.
	maxValues = 1 << 18
)

// ReadJSON reads one JSON value and builds what want names; the rest is only
// checked. It is as strict as RFC 8259 but for what real clients send and a
// ticket system may take: a byte order mark at the start, and NaN, Infinity and
// -Infinity, which are missing values. A member that stands twice in an object
// is missing; names are compared after unescaping. A string with bytes that are
// not UTF-8 keeps them, and the escape of half a surrogate pair becomes the
// three bytes of its code point: such a string has no Text, and differs from
// every other.
//
// A place that is not wanted is absent from the Value; a scalar where want only
// names places below it is missing. The Value does not hold on to text. Text
// that is no JSON anywhere, has anything behind its value, nests deeper than 512
// levels, or of which more than 262144 values are wanted, is an error that
// wraps ErrJSON.
func ReadJSON(text []byte, want *Want) (Value, error) {
	return ReadJSONWhile(text, want, nil)
}

// ReadJSONWhile is ReadJSON that gives up, with ErrStopped, when more says no.
// It is asked after every 16384 values, built or only checked; nil always says
// yes.
func ReadJSONWhile(text []byte, want *Want, more func() bool) (Value, error) {
	if want == nil {
		want = everything
	}
	r := jsonReader{jsonScanner: jsonScanner{text: text}, more: more}
	return r.read(want)
}

// askEvery is how many values are read between two questions, in a millisecond
// or two: no real create has so many, so that none is given up because the
// machine was busy elsewhere.
const askEvery = 1 << 14

// goesOn counts one value, and asks whether there may be more.
func (r *jsonReader) goesOn() bool {
	if r.seen++; r.more != nil && r.seen%askEvery == 0 && !r.more() {
		r.stopped = true
	}
	return !r.stopped
}

// readWholeJSON reads all of text and keeps every occurrence of a member that
// stands twice, so that different texts have different values.
func readWholeJSON(text []byte) (Value, error) {
	r := jsonReader{jsonScanner: jsonScanner{text: text}, keepRepeated: true}
	return r.read(everything)
}

// A jsonReader builds Values. Members and items are gathered on stacks that
// all levels share, so that each object and list is allocated once and at its
// size.
type jsonReader struct {
	jsonScanner
	keepRepeated bool
	whole        string // the text, where nearly all of it is wanted: then strings point into it
	depth, built int
	seen         int
	more         func() bool
	stopped      bool
	members      []Member
	items        []Value
	unescaped    []byte
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

func (r *jsonReader) read(want *Want) (Value, error) {
	if bytes.HasPrefix(r.text, byteOrderMark) {
		r.pos = len(byteOrderMark)
	}
	if want.all {
		r.whole = string(r.text)
	}
	v, ok := r.value(want)
	if ok {
		r.space()
	}
	if ok && r.pos == len(r.text) {
		return v, nil
	}
	return Value{}, r.failure()
}

func (r *jsonReader) failure() error {
	switch {
	case r.stopped:
		return fmt.Errorf("%w at byte %d", ErrStopped, r.pos)
	case r.depth > maxDepth:
		return fmt.Errorf("%w at byte %d: deeper than %d levels", ErrJSON, r.pos, maxDepth)
	case r.built > maxValues:
		return fmt.Errorf("%w at byte %d: more than %d values", ErrJSON, r.pos, maxValues)
	default:
		return fmt.Errorf("%w at byte %d", ErrJSON, r.pos)
	}
}

// value reads the value at the position; a nil want passes over it. When it
// reports false, the position is the byte that no JSON has there.
func (r *jsonReader) value(want *Want) (Value, bool) {
	r.space()
	if want != nil {
		r.built++
	}
	if r.built > maxValues || !r.goesOn() {
		return Value{}, false
	}
	switch r.peek() {
	case '{':
		return r.object(want)
	case '[':
		return r.list(want)
	}
	start := r.pos
	kind, escaped, ok := r.scalar()
	if !ok || want == nil || !want.all {
		return Value{}, ok
	}
	return Value{Kind: kind, Literal: r.literal(kind, start, escaped)}, true
}

func (r *jsonReader) literal(kind ValueKind, start int, escaped bool) string {
	switch {
	case kind == NullValue:
		return ""
	case kind == BoolValue && r.text[start] == 't':
		return "true"
	case kind == BoolValue:
		return "false"
	case kind != StringValue:
		return r.keep(start, r.pos)
	case escaped:
		return string(r.unescape(start+1, r.pos-1))
	default:
		return r.keep(start+1, r.pos-1)
	}
}

func (r *jsonReader) keep(start, end int) string {
	if r.whole != "" {
		return r.whole[start:end]
	}
	return string(r.text[start:end])
}

// unescape returns the string between the quotes; it is good until the next call.
func (r *jsonReader) unescape(start, end int) []byte {
	r.unescaped = appendUnescaped(slices.Grow(r.unescaped[:0], end-start), r.text[start:end])
	return r.unescaped
}

func (r *jsonReader) object(want *Want) (Value, bool) {
	if !r.enter() {
		return Value{}, false
	}
	base := len(r.members)
	more, ok := r.first('}')
	for ; more && ok; more, ok = r.next('}') {
		if !r.member(want) {
			return Value{}, false
		}
	}
	r.leave(ok)
	if !ok || want == nil {
		return Value{}, ok
	}
	return Value{Kind: ObjectValue, Members: r.takeMembers(base)}, true
}

// member reads one member and pushes it, when it is wanted.
func (r *jsonReader) member(want *Want) bool {
	r.space()
	start := r.pos
	if r.peek() != '"' {
		return false
	}
	escaped, ok := r.scanString()
	if !ok {
		return false
	}
	name, below := r.wanted(want, start+1, r.pos-1, escaped)
	if !r.colon() {
		return false
	}
	v, ok := r.value(below)
	if ok && below != nil {
		r.members = append(r.members, Member{name, v})
	}
	return ok
}

// wanted returns the name between the quotes and what is wanted of its member,
// nil for nothing.
func (r *jsonReader) wanted(want *Want, start, end int, escaped bool) (string, *Want) {
	if want == nil {
		return "", nil
	}
	if want.all {
		return r.literal(StringValue, start-1, escaped), want
	}
	name := r.text[start:end]
	if escaped {
		name = r.unescape(start, end)
	}
	if m := want.member(name); m != nil {
		return m.name, m.want
	}
	return "", nil
}

// takeMembers takes the members above base from the stack.
func (r *jsonReader) takeMembers(base int) []Member {
	if len(r.members) == base {
		return nil
	}
	found := r.members[base:]
	if !r.keepRepeated {
		found = eachOnce(found)
	}
	taken := slices.Clone(found)
	r.members = r.members[:base]
	return taken
}

func (r *jsonReader) list(want *Want) (Value, bool) {
	if !r.enter() {
		return Value{}, false
	}
	below := want.ofItems()
	base := len(r.items)
	more, ok := r.first(']')
	for ; more && ok; more, ok = r.next(']') {
		v, ok := r.value(below)
		if !ok {
			return Value{}, false
		}
		if below != nil {
			r.items = append(r.items, v)
		}
	}
	r.leave(ok)
	if !ok || want == nil {
		return Value{}, ok
	}
	v := Value{Kind: ListValue}
	if len(r.items) > base {
		v.Items = slices.Clone(r.items[base:])
		r.items = r.items[:base]
	}
	return v, true
}

func (w *Want) ofItems() *Want {
	if w == nil || w.all {
		return w
	}
	return w.items
}

// enter passes over the opening bracket, unless it is one too many.
func (r *jsonReader) enter() bool {
	r.depth++
	if r.depth > maxDepth {
		return false
	}
	r.pos++
	return true
}

// leave keeps the depth of a failure, which tells why it is one.
func (r *jsonReader) leave(ok bool) {
	if ok {
		r.depth--
	}
}
