package config

import "strings"

// A graphqlToken is a character that stands for itself, or one of those below.
type graphqlToken byte

const (
	graphqlEnd    graphqlToken = 0
	graphqlBad    graphqlToken = 1
	graphqlWord   graphqlToken = 2
	graphqlValue  graphqlToken = 3 // a number or a string
	graphqlSpread graphqlToken = 4
)

// A graphqlLexer cuts a document into tokens.
type graphqlLexer struct {
	text  string
	pos   int
	token graphqlToken
	value string // of a name
}

// next reads the next token. A bad one stays.
func (l *graphqlLexer) next() {
	if l.token == graphqlBad {
		return
	}
	l.blanks()
	rest := l.text[l.pos:]
	switch {
	case rest == "":
		l.token = graphqlEnd
	case strings.HasPrefix(rest, "..."):
		l.token = graphqlSpread
		l.pos += len("...")
	case rest[0] == '"':
		l.string(rest)
	case isGraphQLName(rest[0]):
		l.word(rest)
	case strings.IndexByte("!$&():=@[]{|}", rest[0]) >= 0:
		l.token = graphqlToken(rest[0])
		l.pos++
	default:
		l.token = graphqlBad
	}
}

// blanks passes over what says nothing: blanks, commas, comments.
func (l *graphqlLexer) blanks() {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n,", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "\uFEFF"):
			l.pos += len("\uFEFF")
		case rest[0] == '#':
			n := strings.IndexAny(rest, "\r\n")
			if n < 0 {
				n = len(rest)
			}
			l.pos += n
		default:
			return
		}
	}
}

// isGraphQLName reports whether a name or a number can have the character.
func isGraphQLName(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// word reads a name or a number.
func (l *graphqlLexer) word(rest string) {
	number := rest[0] == '-' || '0' <= rest[0] && rest[0] <= '9'
	n := 0
	for n < len(rest) && (isGraphQLName(rest[n]) && (number || rest[n] != '-') || number && (rest[n] == '.' || rest[n] == '+')) {
		n++
	}
	l.pos += n
	l.token, l.value = graphqlWord, rest[:n]
	if number {
		l.token = graphqlValue
	}
}

func (l *graphqlLexer) string(rest string) {
	mark := `"`
	if strings.HasPrefix(rest, `"""`) {
		mark = `"""`
	}
	l.token = graphqlBad
	for n := len(mark); n < len(rest); n++ {
		switch {
		case mark == `"` && rest[n] == '\\', mark != `"` && strings.HasPrefix(rest[n:], `\"""`):
			n += len(mark)
		case mark == `"` && (rest[n] == '\n' || rest[n] == '\r'):
			return
		case strings.HasPrefix(rest[n:], mark):
			l.token = graphqlValue
			l.pos += n + len(mark)
			return
		}
	}
}
