package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"oneticket/config"
)

func nothing(*setup, []string) error { return nil }

func duration(attribute string) func(*setup, []string) error {
	return func(s *setup, m []string) error {
		d, err := parseDuration(m[1])
		if err != nil {
			return err
		}
		s.set(attribute, strconv.Quote(d.String()))
		return nil
	}
}

// wishSetting is `name = value`, for every setting there is.
func wishSetting(s *setup, m []string) error {
	for _, known := range config.Settings() {
		if known.Name != m[1] {
			continue
		}
		switch known.Block {
		case "rule":
			s.set(m[1], m[2])
		case "backend":
			for _, b := range s.blocks("backend") {
				setRaw(b.Body(), m[1], m[2])
			}
		case "in_flight", "limits", "dead_letter", "principals", "envoy":
			s.setIn(known.Block, m[1], m[2])
		default:
			continue
		}
		return nil
	}
	return fmt.Errorf("there is no setting %q", m[1])
}

// wishTime is "settle 5 s": a duration by the name of its setting.
func wishTime(s *setup, m []string) error {
	d, err := parseDuration(m[2])
	if err != nil {
		return err
	}
	return wishSetting(s, []string{"", strings.ReplaceAll(m[1], " ", "_"), strconv.Quote(d.String())})
}

func wishOptional(s *setup, m []string) error {
	for _, pointer := range list(m[1]) {
		parts := strings.Split(pointer, "/")
		s.setMember("identity", parts[len(parts)-1], "optional("+exprOf(pointer)+")")
	}
	return nil
}

func wishMaterial(s *setup, m []string) error {
	s.setMember("fingerprint", "severity", exprOf(m[1]))
	return nil
}

func wishClass(s *setup, m []string) error {
	s.set("class", exprOf(m[1]))
	return nil
}

func wishWait(s *setup, m []string) error {
	d, err := parseDuration(m[1])
	if err != nil {
		return err
	}
	s.setIn("in_flight", "wait", strconv.Quote(d.String()))
	return nil
}

func limit(attribute string) func(*setup, []string) error {
	return func(s *setup, m []string) error {
		s.setIn("limits", attribute, strconv.Quote(m[1]+m[2]))
		return nil
	}
}

func wishIdentity(s *setup, m []string) error {
	var o objectText
	for _, pointer := range list(m[1]) {
		parts := strings.Split(pointer, "/")
		o.set(parts[len(parts)-1], exprOf(pointer))
	}
	s.set("identity", o.text())
	return nil
}

func wishNormalise(s *setup, m []string) error {
	return s.wrapAll(m[1], list(m[2]))
}

func (s *setup) wrapAll(pointer string, ways []string) error {
	for _, way := range ways {
		domain, strips := strings.CutPrefix(way, "strip domain ")
		var with func(string) string
		switch {
		case way == "lower case":
			with = func(e string) string { return "lower(" + e + ")" }
		case way == "collapse white space":
			with = func(e string) string { return `join(" ", regexall("\\S+", ` + e + `))` }
		case strips:
			with = func(e string) string { return `trimsuffix(trimsuffix(` + e + `, "."), ".` + domain + `")` }
		default:
			return fmt.Errorf("%q is no known way to normalise", way)
		}
		if err := s.wrap(pointer, with); err != nil {
			return err
		}
	}
	return nil
}

func wishAbsent(s *setup, m []string) error {
	return s.wrap(m[1], func(e string) string { return "absent(" + e + ", " + quotedList(list(m[2])) + ")" })
}

func wishRoute(s *setup, m []string) error {
	s.also = append(s.also, m[1]+" "+m[2])
	pattern, err := strconv.Unquote(s.member("match", "path"))
	if err != nil {
		return fmt.Errorf("the profile has no path to extend: %w", err)
	}
	s.setMember("match", "path", strconv.Quote(pattern+"|"+regexp.QuoteMeta(m[2])))
	return nil
}

func wishSuccess(s *setup, m []string) error {
	worked := "contains(" + quotedList(strings.Split(m[2], " or ")) + ", " + exprOf(m[1]) + ")"
	s.setMember("success", "when", worked)
	s.set("refused", "!"+worked)
	return nil
}

func wishTicket(s *setup, m []string) error {
	s.setMember("ticket", "id", exprOf(m[1]))
	return nil
}

func wishLocation(s *setup, _ []string) error {
	s.setMember("ticket", "id", `coalesce(body.result.sys_id, basename(headers.location))`)
	return nil
}

// wishHeal: healing in the background runs on the sidecar's own timers.
func wishHeal(s *setup, m []string) error {
	s.patient = max(s.patient, 10*time.Second)
	return duration("heal_within")(s, m)
}

func wishResend(s *setup, m []string) error {
	s.patient = max(s.patient, 10*time.Second)
	s.set("resend", m[1])
	return nil
}

func wishTransition(s *setup, m []string) error {
	s.set("reopen", `{ method = "POST", path = "/rest/api/2/issue/${ticket.id}/transitions", body = { transition = { id = `+strconv.Quote(m[1])+` } } }`)
	return nil
}

func wishReopenState(s *setup, m []string) error {
	s.set("reopen", `{ method = `+strconv.Quote(m[1])+`, body = { state = `+strconv.Quote(m[2])+` } }`)
	return nil
}

func wishExists(s *setup, m []string) error {
	for _, one := range strings.Split(m[1], ", or ") {
		f := existsForm.FindStringSubmatch(one)
		switch {
		case f == nil:
			return fmt.Errorf("%q is not understood", one)
		case f[2] == "":
			s.setMember("exists", "status", "["+f[1]+"]")
			return nil
		}
		s.setMember("exists", "status", "["+f[1]+"]")
		s.setMember("exists", "match", strconv.Quote(f[2]))
	}
	return nil
}

var existsForm = regexp.MustCompile(`^status (\d+)(?: with a body that matches '(.+)')?$`)

func wishCleared(s *setup, m []string) error {
	s.setMember("fingerprint", "cleared", exprOf(m[1])+" == "+strconv.Quote(m[2]))
	return nil
}

func wishClears(s *setup, m []string) error {
	s.set("clear", `{ method = `+strconv.Quote(m[1])+`, body = { state = `+strconv.Quote(m[2])+` }, closes = true }`)
	return nil
}

func wishInstance(s *setup, m []string) error {
	s.hosts = append(s.hosts, m[1])
	return nil
}

func wishSecond(s *setup, m []string) error {
	s.second = append(s.second, list(strings.ReplaceAll(m[1], " and ", ", "))...)
	return nil
}

func list(s string) []string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func quotedList(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Quote(strings.TrimSpace(v))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
