package extproc

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// Each is how a rule takes a request apart that holds several creates. Paths
// are names of members; the empty path is the whole body.
type Each struct {
	List    []string // in the request; a request that has no list there is one create
	Answer  []string // in the answer, in the order of the request; nil: not known, and such requests are sent on whole
	Failed  []string // in the answer, of the creates that were refused; nil: none is named
	Number  []string // in an item of Failed: which create of the request it was, from 0
	Wrapper []byte   // an answer without items, as JSON; nil: the list alone
}

// mostElements bounds the creates of one request that is taken apart.
const mostElements = 200

// at is what stands at a path of members.
func at(v dedup.Value, path []string) dedup.Value {
	for _, name := range path {
		v = v.Member(name)
	}
	return v
}

// wrap is the answer of which every item is known.
func (e *Each) wrap(items [][]byte) []byte {
	if b, err := body.Decode(e.Wrapper, "application/json", "", body.Limits{}); err == nil {
		if l, ok := b.List(e.Answer); ok {
			return l.Plain(items)
		}
	}
	var out bytes.Buffer
	for _, name := range e.Answer {
		quoted, _ := json.Marshal(name) // a text is always JSON
		out.WriteString("{" + string(quoted) + ":")
	}
	out.WriteByte('[')
	out.Write(bytes.Join(items, []byte{','}))
	out.WriteByte(']')
	for range e.Answer {
		out.WriteByte('}')
	}
	return out.Bytes()
}

// itemOf is what the record has of the answer, as an item of an answer to
// several.
func itemOf(record *dedup.Record) []byte {
	if r := record.Response; r != nil && !r.Cut && json.Valid(r.Body) {
		return bytes.TrimSpace(r.Body)
	}
	named := rebuilt(&dedup.Record{Ticket: record.Ticket, Response: &dedup.Response{Status: http.StatusOK}})
	return named.Body
}

// A manyAnswer is a backend's answer to several creates.
type manyAnswer struct {
	answer dedup.Answer
	text   []byte   // as UTF-8; nil when it could not be read
	list   bool     // what became of each create is known
	parts  []part   // of each create that was sent, in order
	failed [][]byte // the items of Failed
}

// A part is what the answer says of one of them.
type part struct {
	text    []byte // its item; nil when there is none
	value   dedup.Value
	refused int // index in failed; -1: it was not refused
}

// readMany reads the answer to n creates.
func (e *Each) readMany(answer dedup.Answer, b *body.Body, n int) *manyAnswer {
	m := &manyAnswer{answer: answer, parts: make([]part, n)}
	for i := range m.parts {
		m.parts[i].refused = -1
	}
	if b == nil {
		return m
	}
	m.text = b.Text
	l, ok := b.List(e.Answer)
	values := at(answer.Body, e.Answer)
	if !ok || len(values.Items) != l.Len() || !e.readFailed(m, b) || l.Len()+len(m.failed) != n {
		return m
	}
	m.list = true
	next := 0
	for i := range m.parts {
		if m.parts[i].refused >= 0 {
			continue
		}
		m.parts[i].text, m.parts[i].value = l.Text(next), values.Items[next]
		next++
	}
	return m
}

// readFailed finds those that were refused; false where they cannot be told.
func (e *Each) readFailed(m *manyAnswer, b *body.Body) bool {
	if e.Failed == nil {
		return true
	}
	l, ok := b.List(e.Failed)
	values := at(m.answer.Body, e.Failed)
	if !ok {
		return values.Kind == dedup.MissingValue || values.Kind == dedup.NullValue
	}
	for i, v := range values.Items {
		text, _ := at(v, e.Number).Text()
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= len(m.parts) || m.parts[n].refused >= 0 {
			return false
		}
		m.parts[n].refused = i
	}
	m.failed = l.Texts()
	return len(m.failed) == len(values.Items)
}

// refusal is the item of Failed of the create that was sent at this place; nil
// when it was not refused.
func (m *manyAnswer) refusal(i int) []byte {
	if n := m.parts[i].refused; n >= 0 {
		return m.failed[n]
	}
	return nil
}

// judge is what the answer says of the create that was sent at this place.
func (m *manyAnswer) judge(rule *Rule, req *dedup.Request, i int) dedup.Judgement {
	if m.parts[i].refused >= 0 {
		return dedup.Judgement{Says: dedup.SaysRefused}
	}
	answer := m.answer
	answer.Item = &m.parts[i].value
	return rule.Judge(req, &answer)
}

// together is the answer with these items, and with those that were refused
// under their numbers in the client's own request.
func (e *Each) together(m *manyAnswer, items [][]byte, refused []numbered) ([]byte, bool) {
	text := m.text
	if len(m.failed) > 0 {
		var failed [][]byte
		for _, r := range refused {
			one, ok := body.SetRaw(r.text, e.Number, strconv.AppendInt(nil, int64(r.at), 10))
			if !ok {
				return nil, false
			}
			failed = append(failed, one)
		}
		var ok bool
		if text, ok = put(text, e.Failed, failed); !ok {
			return nil, false
		}
	}
	return put(text, e.Answer, items)
}

// numbered is one that was refused, and its number in the client's request.
type numbered struct {
	text []byte
	at   int
}

// decodeJSON decodes a text of JSON that a backend has answered, or a part of it.
func decodeJSON(text []byte) (*body.Body, error) {
	return body.Decode(text, "application/json", "", body.Limits{Size: readAnswer, Budget: answerBudget})
}

func put(text []byte, path []string, items [][]byte) ([]byte, bool) {
	b, err := decodeJSON(text)
	if err != nil {
		return nil, false
	}
	l, ok := b.List(path)
	if !ok {
		return nil, false
	}
	return l.Plain(items), true
}

// body is the part as a body of its own; nil when there is none.
func (m *manyAnswer) body(i int) *body.Body {
	if m.parts[i].text == nil {
		return nil
	}
	return &body.Body{Plain: m.parts[i].text, Text: m.parts[i].text}
}
