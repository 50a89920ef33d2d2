package redisstore

import (
	"net/url"
	"strings"

	"oneticket/dedup"
)

// nameBytes stand for themselves in a name. None of them means anything to
// Redis: no hash tag, no pattern.
const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@"

// names makes the names of keys.
type names struct {
	record string // what all names of records begin with
	ticket string
	epoch  string
	probe  string
}

func namesOf(prefix string) names {
	return names{record: prefix + ":record:{", ticket: prefix + ":ticket:{", epoch: prefix + ":epoch", probe: prefix + ":probe"}
}

func (n *names) recordName(ref dedup.Ref) string {
	return n.record + escape(ref.Rule) + "/" + escape(ref.Scope) + "/" + escape(string(ref.Key)) + "}"
}

func (n *names) ticketName(scope dedup.TicketScope, id string) string {
	return n.ticket + escape(string(scope)) + "/" + escape(id) + "}"
}

// pattern matches the records of the rule, or all.
func (n *names) pattern(rule string) string {
	if rule == "" {
		return n.record + "*"
	}
	return n.record + escape(rule) + "/*"
}

// ref is the inverse of recordName.
func (n *names) ref(name string) (ref dedup.Ref, ok bool) {
	inner, ok := strings.CutPrefix(strings.TrimSuffix(name, "}"), n.record)
	parts := strings.Split(inner, "/")
	if !ok || len(parts) != 3 {
		return ref, false
	}
	for i, part := range parts {
		bare, err := url.PathUnescape(part)
		if err != nil {
			return ref, false
		}
		parts[i] = bare
	}
	return dedup.Ref{Rule: parts[0], Scope: parts[1], Key: dedup.Key(parts[2])}, true
}

func escape(s string) string {
	const hex = "0123456789ABCDEF"
	plain := strings.TrimLeft(s, nameBytes) == ""
	if plain {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; strings.IndexByte(nameBytes, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}
