package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A wish is one kind of config line: its form, and what it changes.
type wish struct {
	form  *regexp.Regexp
	apply func(s *setup, m []string) error
}

// wishes map what cases say in words to settings, once.
var wishes = []wish{
	{says(`identity: (.+)`), wishIdentity},
	{says(`normalise (\S+): (.+)`), wishNormalise},
	{says(`no normaliser on \S+`), nothing},
	{says(`absent values of (\S+): (.+)`), wishAbsent},
	{says(`body is JSON whatever Content-Type says`), nothing},
	{says(`the product's own generated listener and route, unchanged`), nothing},
	{says(`the rule as in the profile`), nothing},
	{says(`create route also: (\S+) (\S+)`), wishRoute},
	{says(`a create has worked only if (\S+) is (.+)`), wishSuccess},
	{says(`id in (\S+)`), wishTicket},
	{says(`id: last segment of Location when there is no body`), wishLocation},
	{says(`largest body to be keyed: (\d+) (KiB|MiB)`), limit("max_body")},
	{says(`largest answer to be stored: (\d+) (KiB|MiB)`), limit("max_response")},
	{says(`TTL (.+?)(?:, sliding)?`), duration("ttl")},
	{says(`greatest age of a record (.+)`), duration("max_age")},
	{says(`heal within (.+)`), wishHeal},
	{says(`resend (\d+)(?: tries)?`), wishResend},
	{says(`before suppressing on a record older than ([^,]+), ask whether its ticket is open\b.*`), duration("verify_every")},
	{says(`reopen within (.+?)(?: \(.*\))?`), duration("reopen_within")},
	{says(`reopen: transition (\S+)`), wishTransition},
	{says(`reopen: (PATCH|PUT) state (\S+)`), wishReopenState},
	{says(`already there: (.+)`), wishExists},
	{says(`cleared when (\S+) is (\S+)`), wishCleared},
	{says(`an update that clears is (PATCH|PUT) state (\S+) of the open ticket and closes it`), wishClears},
	{says(`(\w+) = (".*?"|\d\w*)(?::.*)?`), wishSetting},
	{says(`(?:optional identity|optional): (.+)`), wishOptional},
	{says(`(\S+) is optional`), wishOptional},
	{says(`material: (\S+)`), wishMaterial},
	{says(`class: (\S+)`), wishClass},
	{says(`(?:an in-flight duplicate waits at most|in-flight wait|wait) (.+)`), wishWait},
	{says(`(\S+) is a second instance under the same profile`), wishInstance},
	{says(`(\S+) is the same system's new name`), nothing},
	{says(`two sidecars with one shared store`), nothing},
	{says(`clients (.+) use the second`), wishSecond},
	{says(`client (\S+) uses the second`), wishSecond},
	{says(`store failure: fail open\b.*`), func(s *setup, _ []string) error { s.redis = true; return nil }},
	{says(`([a-z]+(?: [a-z]+)?) (\d.*)`), wishTime},
}

func says(s string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + s + `)$`) }

// An oddConfig is a config line that nothing here understands.
type oddConfig struct {
	clause string
	err    error
}

func (o *oddConfig) Error() string { return fmt.Sprintf("%q: %v", o.clause, o.err) }

// configure applies the config lines of a case. A line that is not understood
// is an error: the case would test something else.
func (s *setup) configure(lines []string) error {
	for _, line := range lines {
		for _, clause := range clauses(line) {
			if err := s.wish(clause); err != nil {
				return &oddConfig{clause, err}
			}
		}
	}
	return nil
}

// clauses cuts a line at its semicolons, but for those inside parentheses.
func clauses(line string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range line {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ';':
			if depth == 0 {
				out = append(out, strings.TrimSpace(line[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(line[from:]))
}

func (s *setup) wish(clause string) error {
	for _, w := range wishes {
		if m := w.form.FindStringSubmatch(clause); m != nil {
			return w.apply(s, m)
		}
	}
	return fmt.Errorf("not understood")
}
