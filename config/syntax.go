package config

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// parseFile reads the syntax of one file. Where that is broken the body holds
// the blocks before the break: what is wrong with them is worth knowing too.
func parseFile(text []byte, name string) (*hclsyntax.Body, hcl.Diagnostics) {
	if diags := checkEncoding(text, name); diags.HasErrors() {
		return &hclsyntax.Body{}, diags
	}
	file, diags := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return &hclsyntax.Body{}, diags
	}
	if !diags.HasErrors() {
		return body, nil
	}
	source := syntaxSource{text, name}
	return source.before(body, diags), source.reworded(firstOfEachLine(diags))
}

// checkEncoding: a file that is not UTF-8 gives one mistake, not one for each
// of its bytes.
func checkEncoding(text []byte, name string) hcl.Diagnostics {
	at := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return hcl.Diagnostics{problem(at, "this file is UTF-16", "A configuration is UTF-8: save it with that encoding.")}
	}
	if utf8.Valid(text) {
		return nil
	}
	good := 0
	for good < len(text) {
		r, size := utf8.DecodeRune(text[good:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		good += size
	}
	lineStart := bytes.LastIndexByte(text[:good], '\n') + 1
	at.Start = hcl.Pos{Line: 1 + bytes.Count(text[:good], []byte{'\n'}), Column: 1 + utf8.RuneCount(text[lineStart:good]), Byte: good}
	at.End = hcl.Pos{Line: at.Start.Line, Column: at.Start.Column + 1, Byte: good + 1}
	return hcl.Diagnostics{problem(at, "this is not UTF-8", fmt.Sprintf("Found the byte 0x%02x: save the file with the encoding UTF-8.", text[good]))}
}

// before keeps the blocks that end before the first mistake.
func (s syntaxSource) before(body *hclsyntax.Body, diags hcl.Diagnostics) *hclsyntax.Body {
	first := slices.MinFunc(diags, func(a, b *hcl.Diagnostic) int { return cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte) })
	good := &hclsyntax.Body{SrcRange: body.SrcRange, Attributes: hclsyntax.Attributes{}}
	for name, a := range body.Attributes {
		if a.SrcRange.End.Byte < first.Subject.Start.Byte {
			good.Attributes[name] = a
		}
	}
	if first.Summary == "Unterminated template string" {
		return good // it begins somewhere before
	}
	for _, b := range body.Blocks {
		if s.at(b.CloseBraceRange) == "}" && b.CloseBraceRange.End.Byte <= first.Subject.Start.Byte {
			good.Blocks = append(good.Blocks, b)
		}
	}
	return good
}

// firstOfEachLine: the parser stumbles on after a mistake, and what it says
// then of the same text is noise.
func firstOfEachLine(diags hcl.Diagnostics) hcl.Diagnostics {
	weight := func(d *hcl.Diagnostic) int { // a wrong character explains what follows from it
		if d.Summary == "Invalid character" || d.Summary == "Invalid escape sequence" {
			return 0
		}
		return 1
	}
	list := slices.Clone(diags)
	slices.SortStableFunc(list, func(a, b *hcl.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Subject.Start.Line, b.Subject.Start.Line), cmp.Compare(weight(a), weight(b)))
	})
	list = slices.CompactFunc(list, func(a, b *hcl.Diagnostic) bool { return a.Subject.Start.Line == b.Subject.Start.Line })
	for i, d := range list {
		switch d.Summary {
		case "Invalid multi-line string", "Unterminated template string", "Argument or block definition required":
			return list[:i+1] // from here on the parser has lost its way
		}
	}
	return list
}

// A syntaxSource is the text that mistakes of syntax are about.
type syntaxSource struct {
	text []byte
	name string
}

func (s syntaxSource) reworded(diags hcl.Diagnostics) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, d := range diags {
		at := *d.Subject
		summary, detail := s.words(d, &at)
		out = append(out, problem(at, summary, detail))
	}
	return out
}

// words says of a mistake of syntax what it is and what to write instead. It
// may move the place to where the cause is.
func (s syntaxSource) words(d *hcl.Diagnostic, at *hcl.Range) (summary, detail string) {
	switch d.Summary {
	case "Invalid character":
		return s.characterWords(at)
	case "Invalid multi-line string", "Unterminated template string":
		return s.stringWords(at)
	case "Unclosed configuration block":
		if where, ok := s.unclosed(); ok {
			*at = where
		}
		return "this brace is never closed", `The file ends before its "}".`
	case "Argument or block definition required":
		return s.definitionWords(at)
	case "Missing newline after argument", "Missing attribute separator":
		return s.valueEndWords(d, at)
	case "Invalid escape sequence":
		return "unknown escape sequence", `In a text a backslash is written twice, as in "\\d+".`
	case "Unexpected comma after argument":
		return "a comma after a setting", "Each setting has a line of its own, without a comma."
	case "Invalid block definition":
		return "a block has no equals sign", fmt.Sprintf("Found %q; allowed is {. Write KIND \"NAME\" { ... }.", s.at(*at))
	case "Invalid single-argument block definition":
		return "two settings on one line", "A block on one line holds one setting; write each on a line of its own."
	case "Attribute redefined":
		return s.at(*at) + " stands twice", "One of them would be ignored." + firstAt(d.Detail)
	case "Invalid string literal":
		return "a name is not computed", `The name of a block is a plain text: backend "jira" { ... }.`
	}
	return lowerFirst(d.Summary), d.Detail
}

func (s syntaxSource) characterWords(at *hcl.Range) (summary, detail string) {
	found, _ := utf8.DecodeRune(s.text[at.Start.Byte:])
	switch found {
	case '\u201c', '\u201d', '\u2018', '\u2019', '\u201e', '\u00ab', '\u00bb':
		return "a curly quote", fmt.Sprintf("Found %c; a text stands in straight quotes: \"...\".", found)
	case '\'', '`':
		return "a single quote", fmt.Sprintf("Found %c; a text stands in double quotes: \"...\".", found)
	case '\u00a0', '\u2003', '\u2009', '\u200b', '\ufeff':
		return "a blank that is none", fmt.Sprintf("Found the character U+%04X, which only looks like a blank. Write a blank.", found)
	}
	return "this character has no meaning here", fmt.Sprintf("Found %c.", found)
}

// stringWords points at the quote that begins the text.
func (s syntaxSource) stringWords(at *hcl.Range) (summary, detail string) {
	line, start, ok := lineAt(s.text, at.Start.Line)
	if where, ok := s.heredoc(); ok && strings.TrimSpace(line) == "" {
		*at = where
		return "a text is never closed", fmt.Sprintf("The file ends before a line %s.", strings.TrimLeft(strings.TrimSpace(s.at(where)), "<-"))
	}
	open := strings.LastIndexByte(line[:min(max(at.Start.Byte-start, 0), len(line))], '"')
	if ok && open >= 0 {
		at.End = hcl.Pos{Line: at.Start.Line, Column: 1 + utf8.RuneCountInString(line), Byte: start + len(line)}
		at.Start = hcl.Pos{Line: at.Start.Line, Column: 1 + utf8.RuneCountInString(line[:open]), Byte: start + open}
	}
	return "a text is never closed", `The line ends before the closing quote ("); a line break in a text is written \n.`
}

// heredoc is where the last text over several lines begins.
func (s syntaxSource) heredoc() (at hcl.Range, ok bool) {
	tokens, _ := hclsyntax.LexConfig(s.text, s.name, hcl.InitialPos)
	for _, t := range slices.Backward(tokens) {
		if t.Type == hclsyntax.TokenOHeredoc {
			at = t.Range
			end := at.Start.Byte + len(strings.TrimRight(s.at(at), "\r\n"))
			at.End = hcl.Pos{Line: at.Start.Line, Column: at.Start.Column + end - at.Start.Byte, Byte: end}
			return at, true
		}
	}
	return at, false
}

func (s syntaxSource) definitionWords(at *hcl.Range) (summary, detail string) {
	const form = `A file holds settings, NAME = VALUE, and blocks, KIND "NAME" { ... }.`
	rest := strings.TrimLeft(string(s.text[at.End.Byte:]), " ")
	switch found := s.at(*at); {
	case found == "}":
		return "this brace closes nothing", "Each block that was opened is closed already. Take it out."
	case found == "{":
		return "a block has a kind", "Found {. " + form + " JSON is not read."
	case strings.HasPrefix(rest, ":"):
		return "a colon in place of an equals sign", fmt.Sprintf("Write %s = VALUE, or %s \"NAME\" { ... } for a block.", found, found)
	default:
		return "neither a setting nor a block", fmt.Sprintf("Found %q. %s", found, form)
	}
}

// valueEndWords is for a value after which the line goes on.
func (s syntaxSource) valueEndWords(d *hcl.Diagnostic, at *hcl.Range) (summary, detail string) {
	line, start, _ := lineAt(s.text, at.Start.Line)
	_, after, _ := strings.Cut(line[:min(max(at.Start.Byte-start, 0), len(line))], "=")
	rest := string(s.text[at.Start.Byte:])
	switch {
	case strings.HasPrefix(rest, "://") || strings.HasPrefix(strings.TrimSpace(after)+rest, "http"):
		return "a text without quotes", `Write it as "https://...".`
	case strings.HasPrefix(rest, "="):
		return "an equals sign in a value", "Two values are compared by ==."
	case d.Summary == "Missing attribute separator":
		return "the value should end here", fmt.Sprintf("Found %s; allowed is a comma, the end of the line, or an operator (&&, ||, ==, !=). A text stands in quotes, a duration too: \"6h\".", s.word(at.Start.Byte))
	}
	return "the value should end here", fmt.Sprintf("Found %s; allowed is the end of the line. A text stands in quotes, a duration too: \"10s\".", s.word(at.Start.Byte))
}

var setAt = regexp.MustCompile(`set at (.*:[0-9]+),`)

// firstAt is where the first of two is, as HCL tells it.
func firstAt(detail string) string {
	if found := setAt.FindStringSubmatch(detail); found != nil {
		return " The first is at " + found[1] + "."
	}
	return ""
}

func (s syntaxSource) at(r hcl.Range) string {
	return string(s.text[min(r.Start.Byte, len(s.text)):min(r.End.Byte, len(s.text))])
}

// word is what stands from the byte on, up to a blank.
func (s syntaxSource) word(from int) string {
	fields := strings.Fields(string(s.text[from:]))
	if len(fields) == 0 {
		return "the end of the file"
	}
	return fields[0]
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// unclosed finds the brace that was most likely meant to be closed: one whose
// closing brace stands further to the left than the line that opened it; else
// the innermost that is open when a block begins in the first column.
func (s syntaxSource) unclosed() (hcl.Range, bool) {
	tokens, _ := hclsyntax.LexConfig(s.text, s.name, hcl.InitialPos)
	var open []hclsyntax.Token
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace:
			open = append(open, t)
		case hclsyntax.TokenCBrace:
			if len(open) == 0 {
				return hcl.Range{}, false
			}
			last := open[len(open)-1]
			if last.Range.Start.Line < t.Range.Start.Line && s.margin(t.Range.Start.Line) < s.margin(last.Range.Start.Line) {
				return last.Range, true
			}
			open = open[:len(open)-1]
		case hclsyntax.TokenIdent:
			begins := t.Range.Start.Column == 1 && i+1 < len(tokens) && tokens[i+1].Type != hclsyntax.TokenEqual
			if begins && len(open) > 0 {
				return open[len(open)-1].Range, true
			}
		}
	}
	if len(open) == 0 {
		return hcl.Range{}, false
	}
	return open[len(open)-1].Range, true
}

// margin is how far to the right the text of the line begins.
func (s syntaxSource) margin(number int) int {
	line, _, _ := lineAt(s.text, number)
	return len(line) - len(strings.TrimLeft(line, " \t"))
}
