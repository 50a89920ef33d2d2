package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oneticket/dedup"
)

func ExampleCanonical() {
	canonical := dedup.Canonical([]dedup.Field{
		{Name: "root_cause_id", Value: "rc-991"},
		{Name: "element_id", Value: "core-rtr-7"},
		{Name: "fault_class", Value: "RING_DOWN"},
	})
	fmt.Println(canonical)
	fmt.Println(dedup.Canonical([]dedup.Field{{"cmdb_ci", "a|b"}, {"u_check", `c:\`}}))
	// Output:
	// element_id=core-rtr-7|fault_class=RING_DOWN|root_cause_id=rc-991
	// cmdb_ci=a\|b|u_check=c:\\|
}

func ExampleKeyOf() {
	fmt.Println(dedup.KeyOf("element_id=core-rtr-7|fault_class=RING_DOWN|root_cause_id=rc-991"))
	// Output: idem:2b83ac4ca0a20fb7192e8245b9605b37
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []dedup.Field
		want   string
	}{
		{"none", nil, ""},
		{"one", []dedup.Field{{"a", "1"}}, "a=1"},
		{"sorted as it is written, not by name", []dedup.Field{{"a", "1"}, {"a1", "2"}, {"a_b", "3"}, {"a-b", "4"}}, "a-b=4|a1=2|a=1|a_b=3"},
		{"backslash alone stays", []dedup.Field{{"a", `c:\x`}, {"b", `\`}}, `a=c:\x|b=\`},
		{"equals sign stays", []dedup.Field{{"a", "x=y"}}, "a=x=y"},
		{"a bar escapes every value", []dedup.Field{{"b", `\`}, {"a", "x|y"}}, `a=x\|y|b=\\|`},
		{"bar at the end", []dedup.Field{{"a", "x|"}}, `a=x\||`},
		{"line ends and beyond ASCII", []dedup.Field{{"a", "x\ny"}, {"ü", "😀"}}, "a=x\ny|ü=😀"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.fields)
			if got := dedup.Canonical(c.fields); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !slices.Equal(before, c.fields) {
				t.Errorf("the caller's fields are now %q", c.fields)
			}
		})
	}
}

// parseCanonical is the inverse, written from the description alone. That it
// exists is the proof that no two identities share a canonical form.
func parseCanonical(s string) []dedup.Field {
	if s == "" {
		return nil
	}
	escaped := strings.HasSuffix(s, "|")
	var fields []dedup.Field
	for _, part := range splitFields(strings.TrimSuffix(s, "|"), escaped) {
		name, value, _ := strings.Cut(part, "=")
		if escaped {
			value = strings.NewReplacer(`\\`, `\`, `\|`, `|`).Replace(value)
		}
		fields = append(fields, dedup.Field{Name: name, Value: value})
	}
	return fields
}

func splitFields(s string, escaped bool) []string {
	if !escaped {
		return strings.Split(s, "|")
	}
	var parts []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

func sortedFields(fields []dedup.Field) []dedup.Field {
	return slices.SortedFunc(slices.Values(fields), func(a, b dedup.Field) int {
		return strings.Compare(a.Name+"="+a.Value, b.Name+"="+b.Value)
	})
}

// identityOf draws an identity from the letters that could confuse a joined form.
func identityOf(r *rand.Rand) []dedup.Field {
	const letters = `|||\\\==ab`
	var fields []dedup.Field
	for _, name := range []string{"a", "a1", "b", "a-b"} {
		if r.IntN(3) == 0 {
			continue
		}
		value := make([]byte, 1+r.IntN(4))
		for i := range value {
			value[i] = letters[r.IntN(len(letters))]
		}
		fields = append(fields, dedup.Field{Name: name, Value: string(value)})
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields
}

func TestDifferentIdentitiesHaveDifferentCanonicalForms(t *testing.T) {
	pairs := 30_000
	if soak() {
		pairs = 10_000_000
	}
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	for range pairs {
		a, b := identityOf(r), identityOf(r)
		same := slices.Equal(sortedFields(a), sortedFields(b))
		if got := dedup.Canonical(a) == dedup.Canonical(b); got != same {
			t.Fatalf("%q and %q: one form is %v, one identity is %v", a, b, got, same)
		}
		if back := parseCanonical(dedup.Canonical(a)); !slices.Equal(back, sortedFields(a)) {
			t.Fatalf("%q is written as %q, which reads as %q", a, dedup.Canonical(a), back)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add("a|b", "c", "a", "b|c")
	f.Add(`a\`, "b", `a\|b`, "")
	f.Add("x|b=y", "z", "x", "y|b=z")
	f.Fuzz(func(t *testing.T, a1, a2, b1, b2 string) {
		a := []dedup.Field{{"a", a1}, {"b", a2}}
		b := []dedup.Field{{"b", b2}, {"a", b1}}
		same := a1 == b1 && a2 == b2
		if got := dedup.Canonical(a) == dedup.Canonical(b); got != same {
			t.Errorf("%q and %q: one form is %v", a, b, got)
		}
		if back := parseCanonical(dedup.Canonical(a)); !slices.Equal(back, a) {
			t.Errorf("%q is written as %q, which reads as %q", a, dedup.Canonical(a), back)
		}
		// A form with fewer fields is another identity.
		if dedup.Canonical(a[:1]) == dedup.Canonical(b) {
			t.Errorf("%q and %q have one form", a[:1], b)
		}
	})
}
