package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A want is what one client must see.
type want struct {
	Status   []int
	Tickets  []string // alternatives; each is "T1" or, for a bulk, "T1 T2"
	Backend  string   // no, yes, update, lookup; "" = anything
	Replayed string   // yes, no
	Header   []headerLine
	Absent   []string
	Has      []string
	Lacks    []string
	Within   time.Duration
}

func parseWant(text string) (*want, error) {
	w := &want{}
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		key, value, _ := strings.Cut(l, ":")
		if err := w.line(key, strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *want) line(key, value string) (err error) {
	switch key {
	case "status":
		for _, a := range alternatives(value) {
			n, err := strconv.Atoi(a)
			if err != nil {
				return fmt.Errorf("status %q is no number", a)
			}
			w.Status = append(w.Status, n)
		}
	case "ticket":
		w.Tickets = alternatives(value)
	case "backend":
		w.Backend = value
	case "replayed":
		w.Replayed = value
	case "header":
		name, v, _ := strings.Cut(value, ":")
		w.Header = append(w.Header, headerLine{name, strings.TrimSpace(v)})
	case "header-absent":
		w.Absent = append(w.Absent, value)
	case "body-has":
		w.Has = append(w.Has, value)
	case "body-lacks":
		w.Lacks = append(w.Lacks, value)
	case "within":
		w.Within, err = parseDuration(value)
	default:
		return fmt.Errorf("unknown line %q", key)
	}
	if !oneOf(w.Backend, "", "no", "yes", "update", "lookup") || !oneOf(w.Replayed, "", "yes", "no") {
		return fmt.Errorf("%s: unknown value %q", key, value)
	}
	return err
}

func alternatives(s string) []string {
	parts := strings.Split(s, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// A seen is what came of one send.
type seen struct {
	send    *send
	answer  *answer
	err     error
	took    time.Duration
	at      time.Duration // the case's clock at the start
	arrived []arrival     // what reached the backend between start and answer
	made    int           // tickets there were when the answer came

	overlaps bool // others were under way: arrivals cannot be told apart
}

// A finding is a difference between what was wanted and what was seen.
type finding struct{ where, wanted, saw string }

func (f finding) String() string {
	return fmt.Sprintf("%s: wanted %s, saw %s", f.where, f.wanted, f.saw)
}

// check compares what came of a send with what was wanted.
func (w *want) check(s *seen, sys system) []finding {
	where := fmt.Sprintf("send %d", s.send.Number)
	if s.err != nil {
		return []finding{{where, "an answer", s.err.Error()}}
	}
	var out []finding
	add := func(wanted, saw string) { out = append(out, finding{where, wanted, saw}) }
	if len(w.Status) > 0 && !slices.Contains(w.Status, s.answer.Status) {
		add("status "+joinInts(w.Status), fmt.Sprintf("%d%s", s.answer.Status, excerpt(s.answer)))
	}
	if len(w.Tickets) > 0 && !w.hasTicket(s.answer, sys) {
		add("ticket "+strings.Join(w.Tickets, " | "), namesOf(sys, s.answer))
	}
	if saw := s.reached(); w.Backend != "" && !s.overlaps && !backendFits(w.Backend, s.arrived) {
		add("backend: "+w.Backend, saw)
	}
	w.checkHeader(s.answer, add)
	body := string(s.answer.Body)
	for _, h := range w.Has {
		if !strings.Contains(body, h) {
			add(fmt.Sprintf("a body with %q", h), quote(body))
		}
	}
	for _, l := range w.Lacks {
		if strings.Contains(body, l) {
			add(fmt.Sprintf("a body without %q", l), quote(body))
		}
	}
	if w.Within > 0 && s.took > w.Within {
		add("an answer within "+w.Within.String(), s.took.Round(time.Millisecond).String())
	}
	return out
}

func (w *want) checkHeader(a *answer, add func(wanted, saw string)) {
	replayed := isReplay(a)
	if w.Replayed != "" && (w.Replayed == "yes") != replayed {
		add("replayed: "+w.Replayed, fmt.Sprintf("%s: %q", markerName, first(a.Header, markerName)))
	}
	for _, h := range w.Header {
		values := get(a.Header, h.Name)
		if len(values) == 0 || (h.Value != "*" && !slices.Contains(values, h.Value)) {
			add(fmt.Sprintf("header %s: %s", h.Name, h.Value), fmt.Sprintf("%q", values))
		}
	}
	for _, name := range w.Absent {
		if v := get(a.Header, name); len(v) > 0 {
			add("no header "+name, fmt.Sprintf("%q", v))
		}
	}
}

// markerName is the header of a replay.
const markerName = "Idempotent-Replayed"

func isReplay(a *answer) bool { return first(a.Header, markerName) == "true" }

// hasTicket reports whether the answer carries one of the wanted tickets.
func (w *want) hasTicket(a *answer, sys system) bool {
	for _, alternative := range w.Tickets {
		var ids []string
		for _, name := range strings.Fields(alternative) {
			n, err := strconv.Atoi(strings.TrimPrefix(name, "T"))
			if err != nil {
				return false
			}
			ids = append(ids, sys.id(n))
		}
		if slices.Equal(ids, idsOf(sys, a, ids)) {
			return true
		}
	}
	return false
}

// idsOf reads the ticket ids of an answer. An answer that does not have the
// profile's form (a replay rebuilt from little) may name the ticket anywhere.
func idsOf(sys system, a *answer, wanted []string) []string {
	if ids := sys.ids(a); len(ids) > 0 {
		return ids
	}
	text := string(a.Body) + "\n" + first(a.Header, "Location")
	for _, id := range wanted {
		if !hasWord(text, id) {
			return nil
		}
	}
	return wanted
}

// hasWord reports whether id stands in text, bounded on both sides.
func hasWord(text, id string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return false
		}
		i += from
		if !isWordByte(text, i-1) && !isWordByte(text, i+len(id)) {
			return true
		}
		from = i + 1
	}
}

func isWordByte(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// backendFits compares the requests that arrived with the wanted kind.
func backendFits(wanted string, arrived []arrival) bool {
	creates, changes, lookups := tally(arrived)
	switch wanted {
	case "no":
		return creates+changes+lookups == 0
	case "yes":
		return creates+changes > 0
	case "update":
		return changes > 0 && creates == 0
	default: // lookup: beside a create whose answer was lost, or in its place
		return lookups > 0
	}
}

func tally(arrived []arrival) (creates, changes, lookups int) {
	for _, a := range arrived {
		switch a.kind {
		case lookUp:
			lookups++
		case update, resolve, reopen:
			changes++
		default:
			creates++
		}
	}
	return creates, changes, lookups
}

// reached tells in words what arrived at the backend.
func (s *seen) reached() string {
	if len(s.arrived) == 0 {
		return "nothing at the backend"
	}
	words := make([]string, len(s.arrived))
	for i, a := range s.arrived {
		words[i] = a.line
	}
	return "at the backend " + strings.Join(words, ", ")
}

func namesOf(sys system, a *answer) string {
	if ids := sys.ids(a); len(ids) > 0 {
		return strings.Join(ids, " ")
	}
	return fmt.Sprintf("no ticket in %d%s", a.Status, excerpt(a))
}

func excerpt(a *answer) string {
	if len(a.Body) == 0 {
		return ""
	}
	return " " + quote(string(a.Body))
}

func quote(s string) string {
	const most = 160
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.Quote(s)
}

func joinInts(ns []int) string {
	words := make([]string, len(ns))
	for i, n := range ns {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " | ")
}
