package dedup

import (
	"regexp"
	"strings"
	"unicode"
)

// maxTitle is how much of a title is looked at, in bytes.
const maxTitle = 1 << 10

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// NormalTitle is a title without what differs between two requests of one
// fault: digits, times and dates, amounts with their units, ids, letter case and
// signs. What is left are words, joined by blanks; of a title that is nothing
// else, nothing.
func NormalTitle(title string) string {
	title = uuid.ReplaceAllString(strings.ToLower(strings.ToValidUTF8(title[:min(len(title), maxTitle)], "")), " ")
	parts := strings.FieldsFunc(title, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) })
	kept := parts[:0]
	for _, part := range parts {
		if word := wordOf(part); word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

// wordOf is the part of a title without its digits; empty where the whole of it
// is a time, an amount or an id.
func wordOf(part string) string {
	if clockWords[part] {
		return ""
	}
	word := withoutDigits(part)
	switch {
	case len(word) == len(part):
		return part
	case len(part) >= shortestID && isHex(strings.TrimPrefix(part, "0x")):
		return ""
	case isAmount(part):
		return ""
	}
	return word
}

func withoutDigits(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsDigit(c) {
			return -1
		}
		return c
	}, s)
}

// shortestID: that of a commit.
const shortestID = 7

func isHex(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') })
}

// isAmount reports whether every run of letters in the part is a unit or belongs
// to a clock, and the first thing is a digit or the T of a time: 5m30s, 19t14, 3gb.
func isAmount(part string) bool {
	for run := range strings.FieldsFuncSeq(part, unicode.IsDigit) {
		if !units[run] && !clockWords[run] {
			return false
		}
	}
	first := part[0]
	return first >= '0' && first <= '9' || first == 't'
}

var units = setOf("t z s sec secs m min mins h hr hrs hour hours d day days w ms us ns e x k m g b kb mb gb tb kib mib gib bps kbps mbps gbps c f v st nd rd th")

var clockWords = setOf(`am pm utc gmt
	jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december
	mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
