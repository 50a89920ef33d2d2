package recordjson

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// JSON has no bytes that are not UTF-8, and the encoder would replace them
// without a word. Such text, and text that looks like it, goes in base64
// behind a mark.
const mark = "\x00"

func armour(s string) string {
	if utf8.ValidString(s) && !strings.HasPrefix(s, mark) {
		return s
	}
	return mark + base64.RawStdEncoding.EncodeToString([]byte(s))
}

func bare(s string) string {
	coded, ok := strings.CutPrefix(s, mark)
	if !ok {
		return s
	}
	raw, err := base64.RawStdEncoding.DecodeString(coded)
	if err != nil {
		return s
	}
	return string(raw)
}

// each maps a slice; nil stays nil, and empty stays empty.
func each[T, U any](in []T, f func(T) U) []U {
	if in == nil {
		return nil
	}
	out := make([]U, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}
