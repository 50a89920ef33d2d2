package config

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// String is what WriteTo writes.
func (d Diagnostics) String() string {
	var b strings.Builder
	_, _ = d.WriteTo(&b)
	return b.String()
}

// WriteTo writes each as the kind, the place, what is wrong; the line with a
// caret under the spot; and what was found and is allowed.
func (d Diagnostics) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	for _, one := range d.sorted() {
		d.write(&b, one)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (d Diagnostics) write(b *strings.Builder, one *hcl.Diagnostic) {
	kind := "error"
	if one.Severity == hcl.DiagWarning {
		kind = "warning"
	}
	if one.Subject == nil {
		fmt.Fprintf(b, "%s: %s\n", kind, one.Summary)
	} else {
		fmt.Fprintf(b, "%s: %s:%d:%d: %s\n", kind, one.Subject.Filename, one.Subject.Start.Line, one.Subject.Start.Column, one.Summary)
		d.writeLine(b, one.Subject)
	}
	if one.Detail != "" {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(strings.TrimSpace(one.Detail), "\n", "\n  "))
	}
	b.WriteByte('\n')
}

// writeLine writes the line that the range begins in, and carets under it.
func (d Diagnostics) writeLine(b *strings.Builder, at *hcl.Range) {
	line, start, ok := lineAt(d.files[at.Filename], at.Start.Line)
	if !ok {
		return
	}
	from := min(max(at.Start.Byte-start, 0), len(line))
	to := len(line)
	if at.End.Line == at.Start.Line {
		to = min(max(at.End.Byte-start, from), len(line))
	}
	number := fmt.Sprintf("%4d", at.Start.Line)
	fmt.Fprintf(b, "%s | %s\n", number, strings.ToValidUTF8(masked(line), "?"))
	fmt.Fprintf(b, "%s | %s%s\n", strings.Repeat(" ", len(number)), blank(line[:from]), strings.Repeat("^", max(1, width(line[from:to]))))
}

var utf8BOM = []byte("\xef\xbb\xbf")

// lineAt returns the line of the number, counted from 1, without its end, and
// where in the file it begins.
func lineAt(file []byte, number int) (line string, start int, ok bool) {
	if bytes.HasPrefix(file, utf8BOM) {
		start = len(utf8BOM) // it is no text
	}
	for n := 1; n < number; n++ {
		end := bytes.IndexByte(file[start:], '\n')
		if end < 0 {
			return "", 0, false
		}
		start += end + 1
	}
	text, _, _ := bytes.Cut(file[start:], []byte{'\n'})
	return string(bytes.TrimSuffix(text, []byte{'\r'})), start, file != nil && number > 0
}

// password is the secret part of an address that stands in the file.
var password = regexp.MustCompile(`(://[^/@:"\s]*:)([^/@"\s]+)(@)`)

// secret is a secret that stands in the file as it is.
var secret = regexp.MustCompile(`(close_secret\s*=\s*")((?:[^"\\]|\\.)*)(")`)

// masked hides passwords and secrets: what is reported also goes to logs and
// pages. The text keeps its length, so that carets hold.
func masked(text string) string {
	for _, hidden := range []*regexp.Regexp{password, secret} {
		text = hidden.ReplaceAllStringFunc(text, func(found string) string {
			part := hidden.FindStringSubmatch(found)
			return part[1] + strings.Repeat("*", len(part[2])) + part[3]
		})
	}
	return text
}

// blank is as wide as the text, tabs included.
func blank(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteRune(r)
		case !unicode.Is(unicode.Mn, r): // a mark stands over the letter before it
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func width(text string) int { return utf8.RuneCountInString(blank(text)) }
