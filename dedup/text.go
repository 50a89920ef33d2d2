package dedup

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text returns the identity text of v, and false when v is missing. Strings
// are taken as TextOf takes them, numbers are exact decimals, booleans are
// "true" and "false". Null, lists and objects have no text.
func (v Value) Text() (string, bool) {
	switch v.Kind {
	case StringValue:
		return TextOf(v.Literal)
	case NumberValue:
		return numberText(v.Literal)
	case BoolValue:
		return v.Literal, true
	default:
		return "", false
	}
}

// TextOf returns the identity text of a string, whatever it comes from: a
// body, a header, a form, a function of an expression. It is s in NFC, without
// outer Unicode white space; inner white space and case stay. It is missing
// (false) when it is blank, when it is as a whole the unexpanded macro of a
// monitoring system, and when it is not valid UTF-8: every repair of broken
// bytes makes different names look alike, and a missing name costs at most a
// duplicate.
//
// TextOf of a text is that text. NFC is that of golang.org/x/text, which
// breaks runs of more than 30 combining marks with U+034F.
func TextOf(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", false
	}
	if !isASCII(s) {
		if !utf8.ValidString(s) {
			return "", false
		}
		if !norm.NFC.IsNormalString(s) {
			s = norm.NFC.String(s)
		}
	}
	return s, !isMacro(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
