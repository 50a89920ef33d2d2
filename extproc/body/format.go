package body

import (
	"bytes"
	"encoding/json"
	"strings"

	"oneticket/dedup"
)

// A format is what a body is written in.
type format uint8

const (
	isJSON format = iota
	isXML
	isForm
	isMultipart
	isGraphQL
)

// format tells what the text is. Its first character says more than
// Content-Type: scripts send JSON under the type that their tool has by
// default, and forms under that of JSON.
func (b *Body) format() format {
	text := bytes.TrimLeft(b.Text, " \t\r\n")
	kind := mediaType(b.contentType)
	switch {
	case kind == "application/graphql" && !json.Valid(text):
		return isGraphQL
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return isJSON
	case len(text) > 0 && text[0] == '<':
		return isXML
	case strings.HasPrefix(kind, "multipart/"):
		return isMultipart
	case kind == "application/x-www-form-urlencoded" || looksLikeForm(text):
		return isForm
	default:
		return isJSON
	}
}

func mediaType(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// looksLikeForm reports whether the text begins with a field's name and "=".
func looksLikeForm(text []byte) bool {
	name, _, found := bytes.Cut(text, []byte{'='})
	return found && len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"&'(),/:;<>?@\{|}`, r)
	})
}

// readDocument is the object that a document of GraphQL alone stands for.
func readDocument(text []byte, want *dedup.Want) dedup.Value {
	v := dedup.Value{Kind: dedup.ObjectValue}
	if name, below, ok := want.At([]byte("query")); ok && below.Whole() {
		v.Members = []dedup.Member{{Name: name, Value: dedup.Value{Kind: dedup.StringValue, Literal: string(text)}}}
	}
	return v
}
