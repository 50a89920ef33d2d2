package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"oneticket/dedup"
)

// A lookUp is how tickets are found by their token.
type lookUp struct {
	call     *call
	settle   time.Duration // how long a new ticket may stay unfound
	when     *expression   // over the answer; nil = every 2xx
	tickets  *template     // the list in the answer
	complete *expression   // false = a limit has cut the list off; nil = always whole
	absent   *expression   // over the answer: it says, in another form than a list, that there is none; nil = never

	token                       *template   // of one item: the backend's own field, a text or a list
	id, location, open, created *expression // of one item
	answer                      *rebuilt    // nil = made of the id
}

// A rebuilt is a create's answer, made of a ticket that was found.
type rebuilt struct {
	status  int
	headers []callField
	body    *template
}

var (
	itemRoots    = append([]string{"item", "url"}, answerRoots...)
	lookUpAnswer = []string{"tickets", "when", "absent", "complete", "token", "id", "location", "open", "created", "settle", "answer"}
)

func (l *loader) lookUp(from layers, c *compiler) *lookUp {
	if !hasCall(from, "lookup") {
		return nil
	}
	s := l.shape(from, "lookup", append(lookUpAnswer, callMembers...)...)
	out := &lookUp{call: l.call(s, c.seeing(lookUpRoots), "GET", nil)}
	out.call.whole = true
	over, item := c.seeing(answerRoots), c.seeing(itemRoots)
	out.when, out.complete, out.absent = s.expression("when", over), s.expression("complete", over), s.expression("absent", over)
	const why = "Without it nobody can tell which of the tickets in the answer is the one."
	out.tickets, out.token = s.template("tickets", over, why), s.template("token", item, why)
	out.id, out.open = s.required("id", item, why), s.required("open", item, why)
	out.location, out.created = s.expression("location", item), s.expression("created", item)
	if v, ok := s.scalar("settle", Setting{Kind: Duration, Most: "1h"}); ok {
		out.settle = v.length
	}
	if e, ok := s.members["answer"]; ok {
		out.answer = l.rebuilt(e, item)
	}
	return out
}

// template compiles a member whose value is used as it stands.
func (s shape) template(name string, c *compiler, why string) *template {
	if e, ok := s.members[name]; ok {
		return c.compileTemplate(e)
	}
	s.l.fail(s.at, s.setting+" has no "+name, why)
	return nil
}

func (l *loader) rebuilt(e hclsyntax.Expression, c *compiler) *rebuilt {
	s := shape{l: l, setting: "lookup.answer", at: e.Range(), members: map[string]hclsyntax.Expression{}}
	s.overlay(e, []string{"status", "headers", "body"})
	out := &rebuilt{status: 201, headers: l.callFields(s, "headers", c)}
	for i := range out.headers {
		out.headers[i].name = strings.ToLower(out.headers[i].name)
	}
	if v, ok := s.scalar("status", Setting{Kind: Count, Least: "200", Most: "299"}); ok {
		out.status = int(v.number)
	}
	if e, ok := s.members["body"]; ok {
		out.body = c.compileTemplate(e)
	}
	return out
}

// LookUp is the request that asks the backend for the tickets with the token.
// It is false where the rule has no look-up, where the token cannot stand in a
// query without meaning something else, and where the create that is looked
// for did not carry it: an empty answer would then prove nothing. req is a
// request of the fault; nil when there is none at hand any more.
func (r *Rule) LookUp(req *dedup.Request, token string) (dedup.Call, bool) {
	k := r.calls.lookUp
	if k == nil || token == "" {
		return dedup.Call{}, false
	}
	native, ok := r.NativeToken(token)
	if !ok || !r.carried(req, native) {
		return dedup.Call{}, false
	}
	return k.call.make(r.callInput(req, map[string]dedup.Value{"token": textValue(token), "native": textValue(native)}))
}

// Found reads the answer to a look-up. Only tickets whose own field is exactly
// the token count, for a backend that ignores a filter returns everything; and
// an answer that may not show all tickets is none, unless the token is in it.
func (r *Rule) Found(a *dedup.Answer, token string) dedup.LookUpResult {
	k := r.calls.lookUp
	native, ok := r.NativeToken(token)
	if k == nil || !ok || a == nil {
		return dedup.LookUpResult{}
	}
	in := &input{answer: a}
	if k.absent != nil && k.absent.truth(in) {
		return dedup.LookUpResult{Answered: true}
	}
	if a.Status < 200 || a.Status > 299 {
		return dedup.LookUpResult{}
	}
	list := k.tickets.raw(in) // an empty list is an answer; nothing where it should be is none
	if list.Kind != dedup.ListValue || k.when != nil && !k.when.truth(in) {
		return dedup.LookUpResult{}
	}
	whole := k.complete == nil || k.complete.truth(in)
	var out dedup.LookUpResult
	for i := range list.Items {
		more := map[string]dedup.Value{"item": list.Items[i], "url": textValue(r.Backend.address())}
		found, says := k.item(&input{answer: a, more: more}, native)
		switch says {
		case itemFound:
			out.Tickets = append(out.Tickets, found)
		case itemUnclear:
			whole = false
		}
	}
	out.Answered = whole || len(out.Tickets) > 0
	return out
}

type itemSays uint8

const (
	itemOther   itemSays = iota // another's ticket
	itemFound                   // it carries the token
	itemUnclear                 // it does not say so much
)

// item reads one ticket of the answer.
func (k *lookUp) item(in *input, native string) (dedup.FoundTicket, itemSays) {
	if says := k.carries(in, native); says != itemFound {
		return dedup.FoundTicket{}, says
	}
	id, okID := k.id.text(in)
	open, okOpen := k.open.text(in)
	if !okID || !okOpen || open != "true" && open != "false" {
		return dedup.FoundTicket{}, itemUnclear
	}
	out := dedup.FoundTicket{Ticket: dedup.Ticket{ID: id}, Open: open == "true"}
	out.Ticket.Location, _ = k.location.optionalText(in)
	if text, ok := k.created.optionalText(in); ok {
		out.Created = instant(text)
	}
	if k.answer != nil {
		out.Response = k.answer.response(in)
	}
	return out, itemFound
}

// carries compares the backend's own field, which may be a list. A ticket
// without such a field says nothing: the caller may not be allowed to see it.
func (k *lookUp) carries(in *input, native string) itemSays {
	v := k.token.raw(in)
	is := func(one dedup.Value) bool { text, ok := one.Text(); return ok && text == native }
	switch {
	case is(v), slices.ContainsFunc(v.Items, is):
		return itemFound
	case k.token.absent(in):
		return itemUnclear
	}
	return itemOther
}

// raw is the value as it stands: an empty list is one.
func (t *template) raw(in *input) dedup.Value {
	if t.place != nil {
		return t.place.value(in)
	}
	v, _ := t.value(in, false)
	return v
}

// absent reports whether nothing at all stands where the template reads.
func (t *template) absent(in *input) bool {
	for _, e := range t.reads() {
		for i := range e.slots {
			if e.slots[i].value(in).Kind != dedup.MissingValue {
				return false
			}
		}
	}
	return true
}

// optionalText is text, for an expression that there may not be.
func (e *expression) optionalText(in *input) (string, bool) {
	if e == nil {
		return "", false
	}
	return e.text(in)
}

func (b *rebuilt) response(in *input) *dedup.Response {
	out := &dedup.Response{Status: b.status}
	out.Header, _ = fieldTexts(b.headers, in)
	if b.body == nil {
		return out
	}
	v, _ := b.body.value(in, false)
	if v.Kind == dedup.MissingValue {
		out.Cut = true
		return out
	}
	own, has := headerOf(&dedup.Answer{Header: out.Header}, "content-type")
	text, contentType := bodyText(v, own)
	if out.Body = text; !has {
		out.Header = append(out.Header, dedup.HeaderField{Name: "content-type", Value: contentType})
	}
	return out
}

// address is the backend's, without a slash at its end.
func (b *Backend) address() string {
	if b.URL == nil {
		return ""
	}
	return strings.TrimSuffix(b.URL.String(), "/")
}

// stamps are the forms in which backends write an instant; one without a zone
// is in UTC.
var stamps = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.RFC1123, time.RFC1123Z,
}

// instant is zero for what is none. A number is of seconds since 1970, or of
// milliseconds where it is too large for that.
func instant(text string) time.Time {
	for _, form := range stamps {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || n < 1e8 || n > 1e14:
		return time.Time{}
	case n > 1e11:
		n /= 1000
	}
	return time.UnixMilli(int64(n * 1000)).UTC()
}
