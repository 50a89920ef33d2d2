package recordjson_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// answerOf is an answer in the manner of ServiceNow's Table API: every column
// of the table by name, most of them empty.
func answerOf(columns int) []byte {
	var b strings.Builder
	b.WriteString(`{"result":{"sys_id":"9d385017c611228701d22104cc95c371"`)
	for i := range columns {
		fmt.Fprintf(&b, `,"u_column_with_a_long_name_%d":""`, i)
	}
	b.WriteString("}}")
	return []byte(b.String())
}

func TestALongAnswerTakesLessRoomAndSurvives(t *testing.T) {
	noise := make([]byte, 8<<10)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(noise)
	for name, c := range map[string]struct {
		body   []byte
		shrink bool
	}{
		"short":                {answerOf(3), false},
		"long":                 {answerOf(100), true},
		"long, incompressible": {noise, false},
		"as long as they get":  {answerOf(8000), true},
	} {
		t.Run(name, func(t *testing.T) {
			r := dedup.Record{V: dedup.Format, State: dedup.Open, Response: &dedup.Response{Status: 201, Body: c.body}}
			p, err := recordjson.Pack(r)
			if err != nil {
				t.Fatal(err)
			}
			if shrunk := len(p.Body) < len(c.body); shrunk != c.shrink {
				t.Errorf("kept in %d bytes of %d", len(p.Body), len(c.body))
			}
			survives(t, r)
			survives(t, dedup.Record{V: dedup.Format, Prior: &r})
		})
	}
}

func TestAnAnswerThatCannotBeExpandedIsAnError(t *testing.T) {
	p, err := recordjson.Pack(dedup.Record{Response: &dedup.Response{Status: 201, Body: answerOf(100)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*recordjson.Packed){
		"cut":              func(p *recordjson.Packed) { p.Body = p.Body[:len(p.Body)/2] },
		"gone":             func(p *recordjson.Packed) { p.Body = nil },
		"of another day":   func(p *recordjson.Packed) { p.Rest = strings.Replace(p.Rest, "zstd", "brotli", 1) },
		"something else's": func(p *recordjson.Packed) { p.Body = bytes.Repeat([]byte("x"), 300) },
	} {
		t.Run(name, func(t *testing.T) {
			damaged := p
			damage(&damaged)
			if r, err := damaged.Unpack(); err == nil {
				t.Errorf("no error, and a body of %d bytes", len(r.Response.Body))
			}
		})
	}
}

func BenchmarkUnpackALongAnswer(b *testing.B) {
	p, err := recordjson.Pack(dedup.Record{Response: &dedup.Response{Status: 201, Body: answerOf(100)}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Unpack(); err != nil {
			b.Fatal(err)
		}
	}
}
