package deadletter

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/url"
	"slices"
	"strings"

	"oneticket/dedup"
)

// eachPair writes value for the value of each pair of a query or form whose
// name is chosen; every other byte stays.
func eachPair(text string, chosen func(name string) bool, value string) string {
	pairs := strings.Split(text, "&")
	for i, pair := range pairs {
		raw, old, found := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(raw)
		if err != nil {
			name = raw
		}
		if found && old != "" && chosen(name) {
			pairs[i] = raw + "=" + value
		}
	}
	return strings.Join(pairs, "&")
}

// cleanBody takes the named members out of the body.
func (l *Letter) cleanBody(paths []string) {
	plain, ok := l.plainBody()
	if !ok {
		l.dropBody()
		return
	}
	text, found, ok := replaceFields(l, plain, paths, func(string) (string, bool) { return Placeholder, true })
	if !ok {
		l.dropBody()
		return
	}
	if len(found) == 0 {
		return // what came is harmless as it came
	}
	for _, path := range found {
		l.redacted("body." + path)
	}
	l.Body = text
	l.Header = slices.DeleteFunc(slices.Clone(l.Header), func(f dedup.HeaderField) bool { return f.Name == "content-encoding" })
}

func (l *Letter) dropBody() {
	l.Body = nil
	l.redacted("body")
}

// replaceFields puts what with gives in place of the members at the paths,
// wherever one stands more than once. It is not ok where the text is neither
// JSON nor a form, because then it cannot be known what is in it.
func replaceFields(l *Letter, text []byte, paths []string, with func(path string) (string, bool)) (out []byte, found []string, ok bool) {
	if contentType, _ := l.HeaderValue("content-type"); strings.HasPrefix(strings.ToLower(contentType), "application/x-www-form-urlencoded") {
		return replaceForm(text, paths, with)
	}
	return replaceJSON(text, paths, with)
}

func replaceForm(text []byte, paths []string, with func(string) (string, bool)) ([]byte, []string, bool) {
	var found []string
	form := string(text)
	for _, path := range paths {
		value, has := with(path)
		form = eachPair(form, func(name string) bool {
			if name == path && !slices.Contains(found, path) {
				found = append(found, path)
			}
			return name == path && has
		}, url.QueryEscape(value))
	}
	return []byte(form), found, true
}

// maxPlain bounds what a body may become when it is inflated.
const maxPlain = 64 << 20

// plainBody is the body without its content coding.
func (l *Letter) plainBody() ([]byte, bool) {
	coding, _ := l.HeaderValue("content-encoding")
	var r io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "", "identity":
		return l.Body, true
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(l.Body))
	case "deflate":
		if r, err = zlib.NewReader(bytes.NewReader(l.Body)); err != nil {
			r, err = flate.NewReader(bytes.NewReader(l.Body)), nil
		}
	default:
		return nil, false
	}
	if err != nil {
		return nil, false
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxPlain+1))
	return plain, err == nil && len(plain) <= maxPlain
}
