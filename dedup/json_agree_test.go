package dedup_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"oneticket/dedup"
)

// plainValue is v as encoding/json decodes the same text, or false when the two are
// meant to differ: where something is missing, or a string is no UTF-8.
func plainValue(v dedup.Value) (any, bool) {
	switch v.Kind {
	case dedup.NullValue:
		return nil, true
	case dedup.BoolValue:
		return v.Literal == "true", true
	case dedup.NumberValue:
		return json.Number(v.Literal), true
	case dedup.StringValue:
		return v.Literal, utf8.ValidString(v.Literal)
	case dedup.ListValue:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			var ok bool
			if list[i], ok = plainValue(item); !ok {
				return nil, false
			}
		}
		return list, true
	case dedup.ObjectValue:
		object := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			var ok bool
			if object[m.Name], ok = plainValue(m.Value); !ok || !utf8.ValidString(m.Name) {
				return nil, false
			}
		}
		return object, true
	default:
		return nil, false
	}
}

func standardDecode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// checkAgreement checks one text against encoding/json, and reading all of it against
// reading some.
func checkAgreement(t *testing.T, text []byte, wanted *dedup.Want) {
	t.Helper()
	v, err := dedup.ReadJSON(text, nil)
	some, someErr := dedup.ReadJSON(text, wanted)
	if (err == nil) != (someErr == nil) || err != nil && err.Error() != someErr.Error() {
		t.Fatalf("%q: all: %v, some: %v", text, err, someErr)
	}
	if err != nil {
		if json.Valid(text) && !strings.Contains(err.Error(), "levels") {
			t.Errorf("%q: valid JSON refused: %v", text, err)
		}
		return
	}
	if showValue(v.Member("a")) != showValue(some.Member("a")) {
		t.Errorf("%q: a is %s, and %s where only some is wanted", text, showValue(v.Member("a")), showValue(some.Member("a")))
	}
	got, comparable := plainValue(v)
	if !comparable || bytes.HasPrefix(text, []byte("\xEF\xBB\xBF")) {
		return
	}
	if want, err := standardDecode(text); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q: got %#v, want %#v, %v", text, got, want, err)
	}
}

var awkwardTexts = []string{
	`{"a":[1,2.5e3,true,null,"x\u00e9\ud83d\ude00"],"a":{}}`, `[NaN,-Infinity]`, `"\ud800"`, "\xEF\xBB\xBF{}", `{"a":{"b":"c"}}`, "[\"\xff\"]",
	`{"\u0061":1,"a":2}`, `[1e999999999]`, strings.Repeat("[", 600), `"aaaaaaa\"bbbbbbb\\"`, `{"b":[{"c":-0.5E+7},{"c":"\/\b"}],"a":false}`,
}

func someWant() *dedup.Want { return dedup.NewWant(pathTo("a"), pathTo("b", "[]", "c")) }

func TestReadJSONAgreesWithTheStandardReader(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, seed))
	const letters = "{}[]\":,\\u0019.eE+-tfn aNI\xff\n\x00"
	wanted := someWant()
	for range 20_000 {
		text := []byte(awkwardTexts[r.IntN(len(awkwardTexts))])
		for range r.IntN(4) {
			i := r.IntN(len(text))
			if r.IntN(2) == 0 {
				text = slices.Delete(text, i, i+1)
			}
			text = slices.Insert(text, min(i, len(text)), letters[r.IntN(len(letters))])
		}
		checkAgreement(t, text, wanted)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, seed := range awkwardTexts {
		f.Add([]byte(seed))
	}
	wanted := someWant()
	f.Fuzz(func(t *testing.T, text []byte) { checkAgreement(t, text, wanted) })
}
