package deadletter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oneticket/dedup"
)

// ReplayHeader marks a replay on its way to the filter, see ReplayMark.
const ReplayHeader = "oneticket-replay"

// decisionHeader is in every answer that the filter has handled.
const decisionHeader = "Oneticket-Decision"

// ReplayMark is the value of ReplayHeader: the only episode in which the
// create may go out, and the letter that it is, as "EPISODE;ID".
func ReplayMark(l Letter) string { return strconv.FormatInt(l.Episode, 10) + ";" + l.ID }

// ParseReplayMark reads a value of ReplayHeader.
func ParseReplayMark(value string) (episode int64, id string, ok bool) {
	number, id, found := strings.Cut(value, ";")
	episode, err := strconv.ParseInt(number, 10, 64)
	_, valid := numberOf(id)
	return episode, id, found && err == nil && episode > 0 && valid
}

// An HTTPSender sends letters to the address that stands in for their backend.
type HTTPSender struct {
	Client   *http.Client                                  // nil: one that follows no redirect and waits a minute
	Listener func(backend string) (base string, err error) // "http://127.0.0.1:8081"

	// Credentials are those of the configuration: a header by its name, a
	// parameter of the query as "query.NAME", a member of the body as
	// "body.PATH".
	Credentials func(backend string) map[string]string

	// Marks are added to every request: the secret of this process, by which
	// the filter knows that ReplayHeader comes from us.
	Marks []dedup.HeaderField
}

// Ready reports whether the configuration gives what the letter needs.
func (s *HTTPSender) Ready(l Letter) bool {
	return len(s.Credentials(l.Backend)) > 0 && s.sendable(l) == nil
}

// sendable says what is missing. A secret of a header or of the query may be
// given in another place, as one that replaces a session does; a member of the
// body has its place.
func (s *HTTPSender) sendable(l Letter) error {
	given := s.Credentials(l.Backend)
	for _, what := range l.Redacted {
		place, _, _ := strings.Cut(what, ".")
		switch {
		case what == "body":
			return fmt.Errorf("%w: its body was not kept, because a secret in it could not be taken out", ErrNotSendable)
		case place == "body" && given[what] == "":
			return fmt.Errorf("%w: %s was not kept: give it in credentials of backend %q, as %q = env(...)", ErrNotSendable, what, l.Backend, what)
		case len(given) == 0:
			return fmt.Errorf("%w: %s was not kept: give credentials to backend %q, from env(...)", ErrNotSendable, what, l.Backend)
		}
	}
	return nil
}

// Send sends the letter once.
func (s *HTTPSender) Send(ctx context.Context, l Letter) (Answer, error) {
	if err := s.sendable(l); err != nil {
		return Answer{}, err
	}
	request, err := s.request(ctx, l)
	if err != nil {
		return Answer{}, err
	}
	response, err := s.client().Do(request)
	if err != nil {
		return Answer{}, withoutURL(err)
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, 16<<20))
	return Answer{
		Status:     response.StatusCode,
		Guarded:    response.Header.Get(decisionHeader) != "",
		RetryAfter: retryAfter(response.Header.Get("Retry-After")),
	}, err
}

// withoutURL: its query may hold a credential.
func withoutURL(err error) error {
	if failure, ok := err.(*url.Error); ok {
		return failure.Err
	}
	return err
}

var defaultClient = &http.Client{
	Timeout:       time.Minute,
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (s *HTTPSender) client() *http.Client {
	if s.Client != nil {
		return s.Client
	}
	return defaultClient
}

func (s *HTTPSender) request(ctx context.Context, l Letter) (*http.Request, error) {
	base, err := s.Listener(l.Backend)
	if err != nil {
		return nil, err
	}
	given := s.Credentials(l.Backend)
	body, err := filled(l, given)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, l.Method, strings.TrimSuffix(base, "/")+filledPath(l.Path, given), bytes.NewReader(body))
	if err != nil {
		return nil, withoutURL(err)
	}
	if _, has := l.HeaderValue("user-agent"); !has {
		request.Header.Set("User-Agent", "") // nor one of ours
	}
	for _, f := range l.Header {
		request.Header.Add(f.Name, f.Value)
	}
	for name, value := range given {
		if !strings.HasPrefix(name, "query.") && !strings.HasPrefix(name, "body.") {
			request.Header.Set(name, value)
		}
	}
	for _, f := range s.Marks {
		request.Header.Set(f.Name, f.Value)
	}
	request.Header.Set(ReplayHeader, ReplayMark(l))
	return request, nil
}

// filledPath puts the credentials of the query in their places, adds those
// that have none, and takes out what was redacted and is not given.
func filledPath(path string, given map[string]string) string {
	path, query, _ := strings.Cut(path, "?")
	var pairs []string
	set := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		raw, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(raw)
		if err != nil {
			name = raw
		}
		if secret, ok := given["query."+name]; ok {
			pair, set["query."+name] = raw+"="+url.QueryEscape(secret), true
		} else if value == Placeholder {
			continue
		}
		if pair != "" {
			pairs = append(pairs, pair)
		}
	}
	for what, secret := range given {
		if name, ok := strings.CutPrefix(what, "query."); ok && !set[what] {
			pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(secret))
		}
	}
	if len(pairs) == 0 {
		return path
	}
	return path + "?" + strings.Join(pairs, "&")
}

// filled puts the credentials of the body in their places.
func filled(l Letter, given map[string]string) ([]byte, error) {
	var paths []string
	for _, what := range l.Redacted {
		if path, ok := strings.CutPrefix(what, "body."); ok {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return l.Body, nil
	}
	slices.Sort(paths)
	body, found, ok := replaceFields(&l, l.Body, paths, func(path string) (string, bool) {
		secret, has := given["body."+path]
		return secret, has
	})
	if !ok || len(found) < len(paths) {
		return nil, fmt.Errorf("%w: the places of its secrets are not found again", ErrNotSendable)
	}
	return body, nil
}

// retryAfter reads both forms of the header.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
