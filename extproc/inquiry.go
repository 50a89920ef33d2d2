package extproc

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// An Inquiry asks a backend about a create whose client has gone, with
// credentials of the configuration.
type Inquiry struct {
	Rule  *Rule
	Calls *Caller
	As    Credentials
	Host  string // of the backend, as in Rules.Hosts

	// Create is the create as far as it was kept; nil: nothing is known of it. Its
	// path says where the API is, and its body whether it carried its token. Without
	// it, what is not found is not surely absent.
	Create *Letter
	Within time.Duration           // bounds each call
	Asked  func(backend, w string) // told of each look-up: open, closed, absent or unanswered; may be nil
}

// LookUp asks for the tickets with the token.
func (i *Inquiry) LookUp(ctx context.Context, token string) dedup.LookUpResult {
	found := i.find(ctx, token)
	if i.Asked != nil {
		i.Asked(i.Rule.Backend, foundWord(found))
	}
	return found
}

func (i *Inquiry) find(ctx context.Context, token string) dedup.LookUpResult {
	if i.Rule.Asks.LookUp == nil {
		return dedup.LookUpResult{}
	}
	request := i.request()
	call, ok := i.Rule.Asks.LookUp(request, token)
	if !ok {
		return dedup.LookUpResult{}
	}
	r := i.call(ctx, call)
	if r.Sent != CallAnswered {
		return dedup.LookUpResult{}
	}
	found := i.Rule.Asks.Found(&r.Answer, token)
	if len(found.Tickets) == 0 && (request == nil || !i.carries(request, token)) {
		found.Answered = false
	}
	return found
}

// Read asks whether the ticket is open.
func (i *Inquiry) Read(ctx context.Context, ticket dedup.Ticket) dedup.ReadResult {
	if i.Rule.Asks.Read == nil {
		return dedup.ReadResult{}
	}
	request := i.request()
	call, ok := i.Rule.Asks.Read(request, ticket)
	if !ok {
		return dedup.ReadResult{}
	}
	r := i.call(ctx, call)
	if r.Sent != CallAnswered {
		return dedup.ReadResult{}
	}
	read := i.Rule.Asks.ReadAnswer(&r.Answer)
	if read.Gone && request == nil {
		return dedup.ReadResult{} // it may have been asked in the wrong place
	}
	return read
}

func (i *Inquiry) call(ctx context.Context, call dedup.Call) CallResult {
	ctx, cancel := context.WithTimeout(ctx, i.Within)
	defer cancel()
	return i.Calls.Call(ctx, i.Rule.Backend, call, i.As)
}

// request is the create as the rule reads it; nil where that is not known.
func (i *Inquiry) request() *dedup.Request {
	if i.Create == nil {
		return nil
	}
	path, query, _ := strings.Cut(i.Create.Path, "?")
	r := &dedup.Request{
		Method: i.Create.Method, Host: i.Host, Path: unescape(path, url.PathUnescape), Query: queryFields(query), Header: i.Create.Header,
	}
	if b, err := body.Decode(i.Create.Body, i.head().value("content-type"), i.head().value("content-encoding"), i.limits()); err == nil {
		r.Raw = b.Text
		r.Body, _ = b.Value(i.Rule.Want) // what does not parse has no fields, and carries nothing
	}
	return r
}

func (i *Inquiry) head() *head { return &head{fields: i.Create.Header} }

func (i *Inquiry) limits() body.Limits {
	return body.Limits{Size: i.Rule.maxBody(), Budget: answerBudget}
}

func (i *Inquiry) carries(request *dedup.Request, token string) bool {
	return !i.Create.Bare && i.Rule.carries(request, i.head(), i.Create.Body, token, i.Rule.Field.Off(), i.limits())
}

// carries reports whether a request like this one carries the token where a
// look-up finds it; leaves says that the backend's own field is left alone.
func (r *Rule) carries(request *dedup.Request, h *head, raw []byte, token string, leaves bool, limits body.Limits) bool {
	path := slices.Concat(r.TokenField, r.TokenList)
	if len(path) == 0 {
		return true
	}
	native, ok := r.nativeForm(token)
	switch {
	case !ok:
		return false
	case r.hasNative(request, path, native):
		return true
	case leaves:
		return false
	}
	_, written := r.writeNative(h, raw, native, limits)
	return written
}

// hasNative reports whether the client has put it there itself.
func (r *Rule) hasNative(request *dedup.Request, path []string, native string) bool {
	v := request.Body
	if request.Each != nil {
		v = *request.Each
	}
	v = at(v, path)
	is := func(one dedup.Value) bool { text, ok := one.Text(); return ok && text == native }
	if i := r.TokenItem; i != nil {
		return slices.ContainsFunc(i.Of(v), func(one dedup.Value) bool { return is(one.Member(i.Value)) })
	}
	return is(v) || slices.ContainsFunc(v.Items, is)
}
