package dedup

import "strings"

// isMacro reports whether s is, as a whole, one macro that a monitoring system
// has left unexpanded. All hosts share such a text, so taken for a name it
// would merge their faults; a text that only looks like one costs a duplicate.
func isMacro(s string) bool {
	if len(s) < 3 {
		return false
	}
	first, last := s[0], s[len(s)-1]
	switch {
	case first == '*':
		return s == "*UNKNOWN*"
	case first == '{' && last == '}':
		return isBraceMacro(s[1 : len(s)-1])
	case first == '$' && last == '}':
		return s[1] == '{' && len(s) > 3 && !strings.ContainsAny(s[2:len(s)-1], "{}")
	case first == '$' && last == '$':
		return isDollarMacro(s[1 : len(s)-1])
	default:
		return false
	}
}

// isBraceMacro tells what stands in braces: of Zabbix {1}, {HOST.NAME1},
// {EVENT.TAGS.service}, {$USER:"context"}, {#DISCOVERED}, {?expression},
// {{ITEM.VALUE}.regsub(..)}; of template languages {{ x }}. JSON, {lower} and
// {} are ordinary texts.
func isBraceMacro(s string) bool {
	switch {
	case s == "":
		return false
	case s[0] == '{':
		return isDoubleBraceMacro(s[1:])
	case strings.ContainsAny(s, "{}"):
		return false
	case s[0] == '?':
		return len(s) > 1
	case s[0] == '$':
		name, _, _ := strings.Cut(s[1:], ":")
		return isMacroName(name)
	case s[0] == '#':
		return isMacroName(s[1:])
	default:
		// What follows TAGS. is the name of a tag, in any letters.
		if name, _, found := strings.Cut(s, "TAGS."); found && len(s) > len(name)+len("TAGS.") {
			return isMacroName(name + "TAGS")
		}
		return isMacroName(s)
	}
}

// isDoubleBraceMacro is given what follows "{{", without the last "}".
func isDoubleBraceMacro(s string) bool {
	if inner, found := strings.CutSuffix(s, "}"); found {
		return !strings.Contains(inner, "{{") && !strings.Contains(inner, "}}")
	}
	name, call, found := strings.Cut(s, "}.")
	return found && strings.HasSuffix(call, ")") && isBraceMacro(name)
}

// isDollarMacro tells what stands in dollars: $HOSTNAME$, $_HOSTCUSTOM$ and
// $HOSTSTATE:other$ of Nagios and its kin, $host.name$ of Icinga. "$5$" is a
// price.
func isDollarMacro(s string) bool {
	name, of, _ := strings.Cut(s, ":")
	if name == "" || strings.Contains(of, "$") || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !isMacroRune(r) && (r < 'a' || r > 'z')
	})
}

func isMacroName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isMacroRune(r) })
}

func isMacroRune(r rune) bool {
	return 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '.'
}
