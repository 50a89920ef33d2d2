package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A prohibition is one kind of `never` line that can be checked.
type prohibition struct {
	form  *regexp.Regexp
	check func(r *run, words []string)
}

var prohibitions = []prohibition{
	{regexp.MustCompile(`^an? ((?:\dxx|\d{3})(?: or (?:\dxx|\d{3}))*) of the sidecar's own$`), neverOwn},
	{regexp.MustCompile(`^(\d{3}(?: or \d{3})*) from the proxy$`), neverOwn},
	{regexp.MustCompile(`^(\d{3}) in place of the backend's \d{3}$`), neverOwn},
	{regexp.MustCompile(`^(\d{3}) to a client\b`), neverOwn},
	{regexp.MustCompile(`^(\d{3}) replayed\b`), neverReplayed},
	{regexp.MustCompile(`^a (redirect) stored\b`), neverReplayed},
	{regexp.MustCompile(`^an answer from the store$`), neverAny},
	{regexp.MustCompile(`^Retry-After lost$`), neverWithoutRetryAfter},
	{regexp.MustCompile(`^two of these requests sharing a ticket$`), neverShared},
	{regexp.MustCompile(`^a key in the native field longer than (\d+) characters`), neverLonger},
	{regexp.MustCompile(`^a success before the ticket exists$`), neverEarly},
	{regexp.MustCompile(`^a refusal from the backend because the body differs\b`), neverRefused},
	{regexp.MustCompile(`^the create refused or held\b`), neverHeld},
}

// checkNever goes through the `never` lines. What is not understood is said to
// be unchecked: the want and expect lines hold most of it already.
func (r *run) checkNever() {
	for _, line := range r.script.Never {
		known := false
		for _, p := range prohibitions {
			if m := p.form.FindStringSubmatch(line); m != nil {
				p.check(r, m)
				known = true
				break
			}
		}
		if !known {
			r.note("not checked: never: " + line)
		}
	}
}

// answers calls f for every answer that a client saw.
func (r *run) answers(f func(s *seen, a *answer)) {
	for _, s := range r.seen {
		if s.answer != nil {
			f(s, s.answer)
		}
	}
}

func (r *run) forbid(s *seen, what string) {
	r.found(fmt.Sprintf("send %d", s.send.Number), "never "+what, fmt.Sprintf("%d%s", s.answer.Status, excerpt(s.answer)))
}

// fits compares a status with "413", "4xx" or "redirect".
func fits(form string, status int) bool {
	switch {
	case form == "redirect":
		return status >= 300 && status < 400
	case strings.HasSuffix(form, "xx"):
		return strconv.Itoa(status)[:1] == form[:1]
	}
	return strconv.Itoa(status) == form
}

// neverOwn: no such status but the backend's own.
func neverOwn(r *run, m []string) {
	r.answers(func(s *seen, a *answer) {
		for _, form := range strings.Split(m[1], " or ") {
			if fits(form, a.Status) && !r.backend.gave(a.Status) {
				r.forbid(s, m[0])
			}
		}
	})
}

func neverReplayed(r *run, m []string) {
	r.answers(func(s *seen, a *answer) {
		if fits(m[1], a.Status) && isReplay(a) {
			r.forbid(s, m[0])
		}
	})
}

func neverAny(r *run, m []string) {
	r.answers(func(s *seen, a *answer) {
		if isReplay(a) {
			r.forbid(s, m[0])
		}
	})
}

func neverWithoutRetryAfter(r *run, m []string) {
	r.answers(func(s *seen, a *answer) {
		if a.Status == 429 && first(a.Header, "Retry-After") == "" {
			r.forbid(s, m[0])
		}
	})
}

// neverShared: requests that differ have different tickets.
func neverShared(r *run, m []string) {
	owner := map[string]string{}
	r.answers(func(s *seen, a *answer) {
		for _, id := range r.sys.ids(a) {
			body := string(s.send.Body)
			if before, ok := owner[id]; ok && before != body {
				r.forbid(s, m[0])
			}
			owner[id] = body
		}
	})
}

func neverLonger(r *run, m []string) {
	most, err := strconv.Atoi(m[1])
	if longest := r.backend.longestNative(); err == nil && longest > most {
		r.found("end", "never "+m[0], fmt.Sprintf("one of %d characters", longest))
	}
}

func neverEarly(r *run, m []string) {
	r.answers(func(s *seen, a *answer) {
		if a.Status >= 200 && a.Status < 300 && s.made == 0 {
			r.forbid(s, m[0])
		}
	})
}

// neverRefused: the backend itself never said 400.
func neverRefused(r *run, m []string) {
	if r.backend.gave(400) {
		r.found("end", "never "+m[0], "the backend answered 400")
	}
}

func neverHeld(r *run, m []string) {
	const long = 5e9 // a client's patience, in nanoseconds
	r.answers(func(s *seen, a *answer) {
		if a.Status >= 400 || s.took > long {
			r.forbid(s, m[0])
		}
	})
}

func (b *backend) gave(status int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answered[status]
}

func (b *backend) longestNative() int {
	b.desk.mu.Lock()
	defer b.desk.mu.Unlock()
	return b.desk.longest
}
