package dedup_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"oneticket/dedup"
)

func TestCanonicalJSON(t *testing.T) {
	long := strings.Repeat("123456789", 8)
	for _, c := range []struct{ name, text, want string }{
		{"sorted, no blanks", ` { "b" : 1 , "a" : [ true , null ] } `, `{"a":[true,null],"b":1}`},
		{"sorted by byte", `{"é":1,"z":2,"a":3,"A":4,"😀":5,"\uffff":6}`, "{\"A\":4,\"a\":3,\"z\":2,\"é\":1,\"\uffff\":6,\"😀\":5}"},
		{"numbers exact and in one form", `[1.0,1e2,-0,0.10,9007199254740993]`, `[1,100,0,0.1,9007199254740993]`},
		{"long number", `[` + long + `,` + long + `.0,` + long + `0e-1,-` + long + `00]`,
			`[` + long + `e0,` + long + `e0,` + long + `e0,-` + long + `e2]`},
		{"far exponents", `[1e1000000,10e999999,-1E-70,1e99999999999999999999]`, `[1e1000000,1e1000000,-1e-70,1e99999999999999999999]`},
		{"fewest escapes", `"\u0041\/\u00fc\u2028<&>\u007f\"\\\b\f\n\r\t\u0000\u001F"`, "\"A/ü\u2028<&>\x7f\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\""},
		{"not a number", `[NaN,Infinity,-Infinity]`, `[NaN,Infinity,-Infinity]`},
		{"strings stay as they are", `[" a ","u\u0308","{HOST.NAME}",""]`, "[\" a \",\"u\u0308\",\"{HOST.NAME}\",\"\"]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := mustReadJSON(t, c.text, nil).CanonicalJSON(); got != c.want || !ok {
				t.Errorf("got  %s, %v\nwant %s", got, ok, c.want)
			}
		})
	}
}

func TestCanonicalJSONTellsWhatIsLost(t *testing.T) {
	for _, text := range []string{`{"a":1,"a":2}`, `[{"b":{"a":1,"a":2}}]`} {
		if got, ok := mustReadJSON(t, text, nil).CanonicalJSON(); ok {
			t.Errorf("%s: got %s as if nothing were lost", text, got)
		}
	}
	if got, ok := numberValue("1,2").CanonicalJSON(); ok || got != "null" {
		t.Errorf("no number: got %s", got)
	}
	if got, ok := (dedup.Value{}).CanonicalJSON(); ok {
		t.Errorf("missing: got %s", got)
	}
}

func TestScalarJSON(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"scalars are texts", `{"b":1.0,"a":"1","c":true}`, `{"a":"1","b":"1","c":"true"}`},
		{"trimmed and composed", `[" u\u0308 "]`, `["ü"]`},
		{"scalar", `1e0`, `"1"`},
		{"what says nothing is null", `["",null,"{HOST.NAME}"," "]`, `[null,null,null,null]`},
		{"empty below", `{"a":{},"b":[]}`, `{"a":{},"b":[]}`},
		{"the word null", `"null"`, `"null"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := mustReadJSON(t, c.text, nil).ScalarJSON(); got != c.want || !ok {
				t.Errorf("got %s, %v; want %s", got, ok, c.want)
			}
		})
	}
}

func TestScalarJSONIsMissing(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `null`, `" "`, `"${X}"`, `NaN`, `[NaN]`, `{"a":1,"a":2}`, `["\ud800"]`, "[\"\xff\"]", `[1e64]`} {
		if got, ok := mustReadJSON(t, text, nil).ScalarJSON(); ok {
			t.Errorf("%s: got %s; want it missing", text, got)
		}
	}
	if got, ok := (dedup.Value{}).ScalarJSON(); ok {
		t.Errorf("missing: got %s", got)
	}
}

// What is written is JSON again, says the same, and is written the same.
func FuzzCanonicalJSONReadsBack(f *testing.F) {
	for _, seed := range []string{`{"b":[1.0,"x\n"],"a":{"c":null}}`, `[1e70,-0.00e5]`, `"\ud800"`, "\"\xff\"", `[NaN]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := dedup.ReadJSON(text, nil)
		if err != nil {
			return
		}
		first, ok := v.CanonicalJSON()
		if !ok {
			return
		}
		again, err := dedup.ReadJSON([]byte(first), nil)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, first, err)
		}
		if second, _ := again.CanonicalJSON(); second != first {
			t.Errorf("%q: first %q, then %q", text, first, second)
		}
		if !utf8.Valid(text) || !json.Valid(text) || !utf8.ValidString(first) {
			return
		}
		// Numbers change their form, so compare after both are in it.
		if want, err := standardDecode([]byte(first)); err == nil {
			if got, comparable := plainValue(again); comparable && !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %q reads as %#v, want %#v", text, first, got, want)
			}
		}
	})
}
