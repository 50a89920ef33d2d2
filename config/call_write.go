package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"oneticket/dedup"
)

const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
	typeText = "text/plain; charset=utf-8"
)

// bodyText writes a body: a text as it is, a form by its type, all else as JSON.
func bodyText(v dedup.Value, contentType string) (text []byte, as string) {
	compound := v.Kind == dedup.ObjectValue || v.Kind == dedup.ListValue
	switch {
	case contentType == "" && !compound:
		contentType = typeText
	case contentType == "":
		contentType = typeJSON
	}
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch {
	case v.Kind == dedup.ObjectValue && strings.EqualFold(strings.TrimSpace(mediaType), typeForm):
		return appendForm(nil, v), contentType
	case !compound:
		return []byte(v.Literal), contentType
	}
	return appendJSON(nil, v), contentType
}

func appendForm(to []byte, v dedup.Value) []byte {
	for _, m := range v.Members {
		values := []dedup.Value{m.Value}
		if m.Value.Kind == dedup.ListValue {
			values = m.Value.Items
		}
		for _, one := range values {
			if len(to) > 0 {
				to = append(to, '&')
			}
			to = append(to, queryEscape(m.Name)...)
			to = append(to, '=')
			if one.Kind == dedup.ObjectValue || one.Kind == dedup.ListValue {
				to = append(to, queryEscape(string(appendJSON(nil, one)))...)
			} else {
				to = append(to, queryEscape(one.Literal)...)
			}
		}
	}
	return to
}

// appendJSON writes v as it is: members in their order, numbers digit by digit.
// A member that is missing is left out; an item is null, for the others keep
// their places.
func appendJSON(to []byte, v dedup.Value) []byte {
	switch v.Kind {
	case dedup.ObjectValue:
		to = append(to, '{')
		first := true
		for _, m := range v.Members {
			if m.Value.Kind == dedup.MissingValue {
				continue
			}
			if !first {
				to = append(to, ',')
			}
			first = false
			to = append(appendQuoted(to, m.Name), ':')
			to = appendJSON(to, m.Value)
		}
		return append(to, '}')
	case dedup.ListValue:
		to = append(to, '[')
		for i, item := range v.Items {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSON(to, item)
		}
		return append(to, ']')
	case dedup.StringValue:
		return appendQuoted(to, v.Literal)
	case dedup.BoolValue, dedup.NumberValue:
		return append(to, v.Literal...)
	}
	return append(to, "null"...)
}

func appendQuoted(to []byte, s string) []byte {
	b := bytes.NewBuffer(to)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
