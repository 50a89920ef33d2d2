package dedup

import "strings"

// maxClientKey is how long a client's key may be, with its namespace, to be
// used as it is; backends keep keys in columns of about that size.
const maxClientKey = 64

// ClientKey is the key that a client has sent itself, for example in the header
// Idempotency-Key: NAMESPACE:VALUE as it stands. When that is longer than 64
// bytes or has anything outside [A-Za-z0-9._:-], and when the namespace is
// "idem", where it could pass for a key of ours, it is KeyOf(NAMESPACE:VALUE)
// instead. "%" and ":" in the namespace become %25 and %3A.
//
// The value is identity text, and missing (false) when that is. The quoted form
// of structured headers ("abc") and the bare form (abc) are one. A client's key
// should live for 24 hours.
func ClientKey(value, namespace string) (Key, bool) {
	text, ok := clientText(value, namespace)
	switch {
	case !ok:
		return "", false
	case namespace+":" == keyPrefix || !isPlainKey(text):
		return KeyOf(text), true
	default:
		return Key(text), true
	}
}

func clientText(value, namespace string) (string, bool) {
	text, ok := TextOf(value)
	if !ok {
		return "", false
	}
	if text, ok = TextOf(unquote(text)); !ok {
		return "", false
	}
	return partEscaper.Replace(namespace) + ":" + text, true
}

// unquote takes the quotes off a string of RFC 9651, section 3.3.3; what is no
// such string stays as it is.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	quoted := s[1 : len(s)-1]
	if !strings.ContainsAny(quoted, `"\`) {
		return quoted
	}
	var b strings.Builder
	for i := 0; i < len(quoted); i++ {
		c := quoted[i]
		if c == '"' {
			return s
		}
		if c == '\\' {
			if i++; i == len(quoted) || quoted[i] != '"' && quoted[i] != '\\' {
				return s
			}
			c = quoted[i]
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isPlainKey(s string) bool {
	if len(s) > maxClientKey {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._:-", c) >= 0) {
			return false
		}
	}
	return true
}
