package body

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"oneticket/dedup"
)

// A part is one part of multipart/form-data.
type part struct {
	name       string
	file       bool
	charset    string
	unreadable bool // it has a transfer encoding of its own
	start, end int  // what it holds
}

// parts are all parts of a body.
type parts struct {
	all      []part
	boundary string
	last     int    // where the closing boundary stands
	lineEnd  string // what ends the lines of the form
}

// partSteps is what reading the headers of one part is worth.
const partSteps = 16

// boundaryOf is the boundary that Content-Type names, else the first line.
func (b *Body) boundaryOf() (string, bool) {
	if _, parameters, err := mime.ParseMediaType(b.contentType); err == nil && parameters["boundary"] != "" {
		return parameters["boundary"], true
	}
	line, _, found := bytes.Cut(b.Text, []byte{'\n'})
	name, dashed := bytes.CutPrefix(bytes.TrimRight(line, " \t\r"), []byte("--"))
	return string(name), found && dashed && len(name) > 0
}

// parts cuts the text into its parts; false when it has no such form, or its
// end is missing.
func (b *Body) parts(within *budget) (parts, bool) {
	boundary, ok := b.boundaryOf()
	if !ok {
		return parts{}, false
	}
	p := parts{boundary: boundary, lineEnd: "\r\n"}
	at, ok := nextBoundary(b.Text, boundary, 0)
	for ok {
		var next span
		behind, closing, isLine := boundaryLine(b.Text, at.end)
		switch {
		case closing:
			p.last = at.start
			return p, true
		case !isLine:
			return parts{}, false
		}
		if b.Text[behind-2] != '\r' {
			p.lineEnd = "\n"
		}
		if next, ok = nextBoundary(b.Text, boundary, behind); !ok {
			break
		}
		one, readable := readPart(b.Text, behind, beforeBoundary(b.Text, next.start))
		if !readable || len(p.all) == maxFields || !within.spend(partSteps) {
			return parts{}, false
		}
		p.all = append(p.all, one)
		at = next
	}
	return parts{}, false
}

// nextBoundary is the boundary that begins the next line from pos on.
func nextBoundary(text []byte, boundary string, pos int) (span, bool) {
	delimiter := []byte("--" + boundary)
	for pos < len(text) {
		n := bytes.Index(text[pos:], delimiter)
		if n < 0 {
			break
		}
		at := span{pos + n, pos + n + len(delimiter)}
		if _, closing, isLine := boundaryLine(text, at.end); (at.start == 0 || text[at.start-1] == '\n') && (closing || isLine) {
			return at, true
		}
		pos = at.start + 1
	}
	return span{}, false
}

// boundaryLine looks at what follows a boundary: the end of its line, or the
// two dashes that close the form.
func boundaryLine(text []byte, pos int) (behind int, closing, isLine bool) {
	if bytes.HasPrefix(text[pos:], []byte("--")) {
		return pos + 2, true, false
	}
	for pos < len(text) && (text[pos] == ' ' || text[pos] == '\t' || text[pos] == '\r') {
		pos++
	}
	return pos + 1, false, pos < len(text) && text[pos] == '\n'
}

// beforeBoundary is the end of what stands before a boundary, whose line end
// is its own.
func beforeBoundary(text []byte, pos int) int {
	if pos--; pos > 0 && text[pos-1] == '\r' {
		pos--
	}
	return pos
}

// readPart reads the headers of the part between start and end. A part that
// does not say what it is may be anything, and is none that can be read.
func readPart(text []byte, start, end int) (part, bool) {
	p := part{}
	for start <= end {
		n := bytes.IndexByte(text[start:max(start, end)], '\n')
		if n < 0 {
			return p, false
		}
		line := string(bytes.TrimRight(text[start:start+n], "\r"))
		if start += n + 1; line == "" {
			p.start, p.end = min(start, end), end
			return p, p.name != ""
		}
		name, value, _ := strings.Cut(line, ":")
		if !p.header(strings.ToLower(strings.TrimSpace(name)), value) {
			return p, false
		}
	}
	return p, false
}

func (p *part) header(name, value string) bool {
	switch name {
	case "content-disposition":
		_, parameters, err := mime.ParseMediaType(value)
		_, p.file = parameters["filename"]
		p.name = parameters["name"]
		return err == nil
	case "content-type":
		p.charset = charsetName(value)
	case "content-transfer-encoding":
		p.unreadable = !slices.Contains([]string{"7bit", "8bit", "binary"}, strings.ToLower(strings.TrimSpace(value)))
	}
	return true
}

// readMultipart reads the parts that are no files.
func (b *Body) readMultipart(want *dedup.Want) (dedup.Value, bool) {
	parts, ok := b.parts(&b.budget)
	if !ok {
		return dedup.Value{}, false
	}
	found := fields{want: want, within: &b.budget}
	for _, p := range parts.all {
		if !p.file && !found.add([]byte(p.name), func() ([]byte, bool) { return p.text(b.Text[p.start:p.end]) }) {
			return dedup.Value{}, false
		}
	}
	return found.value(), true
}

func (p part) text(raw []byte) ([]byte, bool) {
	of, known := charsetNamed(p.charset, raw)
	if !known || p.unreadable {
		return nil, false
	}
	return of.text(raw)
}

// editMultipart is where the value goes: a part of its own before the end, in
// the place of an empty part, or inside what a part says.
func (b *Body) editMultipart(w writing) (edit, bool) {
	parts, ok := b.parts(nil)
	if !ok || strings.Contains(w.value, "--"+parts.boundary) {
		return edit{}, false
	}
	var found []part
	for _, p := range parts.all {
		if p.name != w.Path[0] {
			continue
		}
		if w.List && string(b.Text[p.start:p.end]) == w.value {
			return edit{}, false
		}
		found = append(found, p)
	}
	switch {
	case len(w.Path) == 1 && w.Item != nil:
		return edit{}, false
	case len(w.Path) == 1 && (len(found) == 0 || w.List):
		return parts.add(w)
	case len(found) != 1 || found[0].file || found[0].unreadable:
		return edit{}, false
	}
	p := found[0]
	raw := b.Text[p.start:p.end]
	if of, known := charsetNamed(p.charset, raw); !known || of != nil {
		return edit{}, false
	}
	if len(w.Path) == 1 {
		return edit{p.start, p.end, []byte(w.value)}, w.Over || blankText(raw)
	}
	e, ok := inField(p.name, raw, w.below())
	return edit{p.start + e.start, p.start + e.end, e.text}, ok
}

func (p parts) add(w writing) (edit, bool) {
	text := "--" + p.boundary + p.lineEnd + `Content-Disposition: form-data; name="` + w.Path[0] + `"` +
		p.lineEnd + p.lineEnd + w.value + p.lineEnd
	return edit{p.last, p.last, []byte(text)}, !strings.ContainsAny(w.Path[0], "\"\\\r\n")
}
