package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
)

// A problem is why a call had no effect, in the form of RFC 9457.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Ticket string `json:"ticket,omitempty"`
}

func (p *problem) write(w http.ResponseWriter) {
	writeJSON(w, p.Status, "application/problem+json", p)
}

func writeJSON(w http.ResponseWriter, status int, media string, v any) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller has gone: nobody is left to tell
}

// shortened is what a caller has sent, as it may be shown.
func shortened(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > 64 {
		return string(runes[:64]) + "..."
	}
	return text
}

// sentence is an error as a sentence of its own.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
