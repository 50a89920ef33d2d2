package dedup_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"oneticket/dedup"
)

func pathTo(names ...string) []dedup.Step {
	var path []dedup.Step
	for _, name := range names {
		path = append(path, dedup.Step{Name: name, Items: name == "[]"})
	}
	return path
}

func mustReadJSON(t *testing.T, text string, want *dedup.Want) dedup.Value {
	t.Helper()
	v, err := dedup.ReadJSON([]byte(text), want)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// showValue writes a value on one line: the tests' own form, which hides nothing.
func showValue(v dedup.Value) string {
	switch v.Kind {
	case dedup.MissingValue:
		return "missing(" + v.Literal + ")"
	case dedup.NullValue:
		return "null"
	case dedup.StringValue:
		return fmt.Sprintf("%+q", v.Literal)
	case dedup.ListValue:
		parts := make([]string, len(v.Items))
		for i, item := range v.Items {
			parts[i] = showValue(item)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case dedup.ObjectValue:
		parts := make([]string, len(v.Members))
		for i, m := range v.Members {
			parts[i] = fmt.Sprintf("%+q:%s", m.Name, showValue(m.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	default:
		return v.Literal
	}
}

func TestReadJSON(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"object in its order", `{"b":1,"a":"x","c":null}`, `{"b":1 "a":"x" "c":null}`},
		{"blanks", " \t\r\n{ \"a\" : [ 1 , true , false ] } \n", `{"a":[1 true false]}`},
		{"empty", `[{},[],""]`, `[{} [] ""]`},
		{"byte order mark", "\xEF\xBB\xBF {\"a\":1}", `{"a":1}`},
		{"numbers as they came", `[0,-0,1.50,1E+2,12345678901234567890,1e1000000]`, `[0 -0 1.50 1E+2 12345678901234567890 1e1000000]`},
		{"not a number", `{"a":NaN,"b":Infinity,"c":-Infinity,"d":-1}`, `{"a":missing(NaN) "b":missing(Infinity) "c":missing(-Infinity) "d":-1}`},
		{"escapes", `"\"\\\/\b\f\n\r\t\u0041\u00fc\u20AC\ud83d\ude00"`, `"\"\\/\b\f\n\r\tA\u00fc\u20ac\U0001f600"`},
		{"raw text beyond ASCII", `"ü€😀"`, `"\u00fc\u20ac\U0001f600"`},
		{"long text with an escape at its end", `"` + strings.Repeat("x", 23) + `\n"`, `"` + strings.Repeat("x", 23) + `\n"`},
		{"half a pair keeps its code point", `["\ud800","\udc00x","\ud800\u0041","\ud800\ud83d\ude00"]`,
			`["\xed\xa0\x80" "\xed\xb0\x80x" "\xed\xa0\x80A" "\xed\xa0\x80\U0001f600"]`},
		{"bytes that are not UTF-8 stay", "[\"\xff\",\"\xfe\"]", `["\xff" "\xfe"]`},
		{"repeated member", `{"a":1,"b":2,"a":1}`, `{"a":missing() "b":2}`},
		{"repeated thrice", `{"a":1,"a":2,"a":3}`, `{"a":missing()}`},
		{"repeated in other letters", `{"a":1,"\u0061":2}`, `{"a":missing()}`},
		{"repeated below", `{"o":{"a":1,"a":2},"p":{"a":1}}`, `{"o":{"a":missing()} "p":{"a":1}}`},
		{"word alone", `true`, `true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := showValue(mustReadJSON(t, c.text, nil)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReadJSONFindsARepeatedMemberAmongMany(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `"m%d":%d,`, i, i)
	}
	v := mustReadJSON(t, `{`+b.String()+`"m500":1}`, nil)
	if len(v.Members) != 1000 {
		t.Errorf("%d members; want 1000", len(v.Members))
	}
	for i, m := range v.Members {
		if missing := m.Value.Kind == dedup.MissingValue; missing != (i == 500) {
			t.Errorf("member %s: missing is %v", m.Name, missing)
		}
	}
}

func TestReadJSONRefusesWhatIsNoJSON(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
	}{
		{"", 0}, {" ", 1}, {"{", 1}, {"[", 1}, {"}", 0}, {`{"a"`, 4}, {`{"a":`, 5}, {`{"a":1`, 6}, {`{"a":1,`, 7}, {`{"a":1,}`, 7},
		{`{a:1}`, 1}, {`{"a" 1}`, 5}, {`[1,]`, 3}, {`[1 2]`, 3}, {`[,1]`, 1}, {`{"a":1}x`, 7}, {`{} {}`, 3}, {`1 2`, 2},
		{`"abc`, 4}, {"\"a\nb\"", 2}, {`"\x"`, 2}, {`"\u12g4"`, 5}, {`"\`, 2}, {`"\u12`, 5},
		{"01", 1}, {"-", 1}, {"+1", 0}, {".5", 0}, {"1.", 2}, {"1e", 2}, {"1e+", 3}, {"0x1", 1}, {"--1", 1},
		{"nul", 3}, {"True", 0}, {"nan", 1}, {"-NaN", 1}, {"+Infinity", 0}, {"Infinit", 7}, {"'a'", 0}, {"\x00", 0},
		{"\xEF\xBB\xBF", 3}, {"\xEF\xBB\xBF\xEF\xBB\xBF1", 3}, {"1\xEF\xBB\xBF", 1}, {"/**/1", 0},
		{`{"cmdb_ci":"db-07","u_check":"ping","imp`, 40},
	} {
		for name, want := range map[string]*dedup.Want{"all": nil, "nothing": dedup.NewWant(), "some": dedup.NewWant(pathTo("a"))} {
			v, err := dedup.ReadJSON([]byte(c.text), want)
			if !errors.Is(err, dedup.ErrJSON) || err.Error() != fmt.Sprintf("not JSON at byte %d", c.at) {
				t.Errorf("%q, want %s: error %v; want one at byte %d", c.text, name, err, c.at)
			}
			if v.Kind != dedup.MissingValue {
				t.Errorf("%q, want %s: got %s", c.text, name, showValue(v))
			}
		}
	}
}

func TestReadJSONBoundsTheDepth(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"a":[`, depth/2) + "1" + strings.Repeat("]}", depth/2))
	}
	for name, want := range map[string]*dedup.Want{"all": nil, "nothing": dedup.NewWant()} {
		if _, err := dedup.ReadJSON(nested(512), want); err != nil {
			t.Errorf("%s: 512 levels: %v", name, err)
		}
		_, err := dedup.ReadJSON(nested(514), want)
		if !errors.Is(err, dedup.ErrJSON) || !strings.Contains(err.Error(), "512 levels") {
			t.Errorf("%s: 514 levels: error %v", name, err)
		}
		if _, err := dedup.ReadJSON(bytes.Repeat([]byte("["), 1<<22), want); !errors.Is(err, dedup.ErrJSON) {
			t.Errorf("%s: four million brackets: error %v", name, err)
		}
	}
}

func TestReadJSONBoundsHowManyValuesItBuilds(t *testing.T) {
	zeros := func(n int) []byte { return []byte("[0" + strings.Repeat(",0", n-1) + "]") }
	if _, err := dedup.ReadJSON(zeros(1<<18-1), nil); err != nil {
		t.Errorf("as many as may be: %v", err)
	}
	if _, err := dedup.ReadJSON(zeros(1<<18), nil); !errors.Is(err, dedup.ErrJSON) || !strings.Contains(err.Error(), "262144 values") {
		t.Errorf("one more: error %v", err)
	}
	if _, err := dedup.ReadJSON(zeros(1<<20), dedup.NewWant()); err != nil {
		t.Errorf("many that are not wanted: %v", err)
	}
}

func TestReadJSONBuildsWhatIsWanted(t *testing.T) {
	const text = `{"cmdb_ci":"rtr","skip":{"cmdb_ci":1},"fields":{"project":{"key":"OPS","id":1},"x":1},` +
		`"ticket":{"custom_fields":[{"id":1,"value":"a"},{"id":2,"value":["b"]}],"subject":"s"}}`
	for _, c := range []struct {
		name  string
		paths [][]dedup.Step
		want  string
	}{
		{"nothing", nil, `{}`},
		{"a member", [][]dedup.Step{pathTo("cmdb_ci")}, `{"cmdb_ci":"rtr"}`},
		{"a member below others", [][]dedup.Step{pathTo("fields", "project", "key")}, `{"fields":{"project":{"key":"OPS"}}}`},
		{"a whole tree", [][]dedup.Step{pathTo("ticket", "custom_fields")},
			`{"ticket":{"custom_fields":[{"id":1 "value":"a"} {"id":2 "value":["b"]}]}}`},
		{"of every item", [][]dedup.Step{pathTo("ticket", "custom_fields", "[]", "value")},
			`{"ticket":{"custom_fields":[{"value":"a"} {"value":["b"]}]}}`},
		{"several, one within another", [][]dedup.Step{pathTo("fields", "x"), pathTo("cmdb_ci"), pathTo("fields")},
			`{"cmdb_ci":"rtr" "fields":{"project":{"key":"OPS" "id":1} "x":1}}`},
		{"below a scalar", [][]dedup.Step{pathTo("cmdb_ci", "a")}, `{"cmdb_ci":missing()}`},
		{"a member of a list", [][]dedup.Step{pathTo("ticket", "custom_fields", "id")}, `{"ticket":{"custom_fields":[]}}`},
		{"items of an object", [][]dedup.Step{pathTo("fields", "[]")}, `{"fields":{}}`},
		{"what is not there", [][]dedup.Step{pathTo("nowhere", "at", "all")}, `{}`},
		{"everything", [][]dedup.Step{{}}, showValue(mustReadJSON(t, text, nil))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := showValue(mustReadJSON(t, text, dedup.NewWant(c.paths...))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReadJSONFindsWantedMembersAmongManyAndEscaped(t *testing.T) {
	var paths [][]dedup.Step
	for i := range 20 {
		paths = append(paths, pathTo(fmt.Sprint("m", i)))
	}
	got := showValue(mustReadJSON(t, `{"m3":1,"x":2,"\u006d19":3,"m3":1}`, dedup.NewWant(paths...)))
	if want := `{"m3":missing() "m19":3}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReadJSONDoesNotHoldOnToTheText(t *testing.T) {
	for name, want := range map[string]*dedup.Want{"all": nil, "some": dedup.NewWant(pathTo("a"))} {
		text := []byte(`{"a":["rtr-7","rtr\u002d8",12]}`)
		v, err := dedup.ReadJSON(text, want)
		if err != nil {
			t.Fatal(err)
		}
		for i := range text {
			text[i] = '#'
		}
		if got, want := showValue(v), `{"a":["rtr-7" "rtr-8" 12]}`; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestReadJSONErrorsHoldNoneOfTheBody(t *testing.T) {
	_, err := dedup.ReadJSON([]byte(`{"password":"hunter2`), nil)
	if err == nil || strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "password") {
		t.Errorf("error %v", err)
	}
}
