package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// PerTime is a rate: Count in each Per. The zero value is without limit.
type PerTime struct {
	Count int
	Per   time.Duration
}

// readValue reads the value of one setting. Expressions and objects are kept
// as they are: they are read with the rule that they belong to.
func (l *loader) readValue(s *Setting, e hclsyntax.Expression) (value, bool) {
	v := value{setting: s, expr: e, at: e.Range()}
	switch s.Kind {
	case Expression, Object:
		return v, true
	case TextList:
		list, diags := textList(e, l.constants)
		l.add(diags)
		v.list = list
		return v, !diags.HasErrors()
	case TextMap:
		return l.readTable(v)
	}
	given, ok := l.constant(e)
	if !ok {
		return v, false
	}
	text, ok := asText(given)
	if !ok || s.Kind == Text && given.Type() != cty.String {
		l.fail(v.at, fmt.Sprintf("%s is a %s", s.Name, s.Kind), sentence("found "+masked(found(e, given))+"; "+s.allowed()))
		return v, false
	}
	read, err := parseText(s, text)
	if err != nil {
		l.fail(v.at, fmt.Sprintf("%s cannot be this", s.Name), sentence("found "+found(e, given)+"; "+s.allowed()+s.hint(text)))
		return v, false
	}
	read.expr, read.at = e, v.at
	return read, true
}

// constant evaluates what does not depend on a request.
func (l *loader) constant(e hclsyntax.Expression) (cty.Value, bool) {
	given, diags := e.Value(l.constants)
	l.add(diags)
	return given, !diags.HasErrors()
}

// found shows a value that stands in the file. One that was computed may come
// from the environment, and may be a secret.
func found(e hclsyntax.Expression, v cty.Value) string {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		if v.IsNull() {
			return "null"
		}
		text, _ := asText(v)
		return text
	case *hclsyntax.TemplateExpr:
		if text, ok := asText(v); ok && e.IsStringLiteral() {
			return strconv.Quote(text)
		}
	case *hclsyntax.UnaryOpExpr: // a negative number
		if text, ok := asText(v); ok {
			return text
		}
	case *hclsyntax.ObjectConsExpr:
		return "an object"
	case *hclsyntax.TupleConsExpr:
		return "a list"
	}
	return "a computed value"
}

// allowed says what the setting takes.
func (s *Setting) allowed() string {
	what := map[Kind]string{
		Text: "a text", Flag: "true or false", Duration: `a duration such as "10s", "1h30m" or "7d"`, Count: "a whole number",
		Size: `a size such as "4MiB"`, Rate: `a rate such as "6/m"`, Object: `a duration such as "1h"`,
	}[s.Kind]
	if s.Kind == Choice {
		what = "one of " + strings.Join(s.Choices, ", ")
	}
	switch {
	case s.Least != "" && s.Most != "":
		what += " from " + s.Least + " to " + s.Most
	case s.Most != "":
		what += " up to " + s.Most
	}
	return "allowed is " + what
}

// parseText reads a scalar setting and holds it against its range.
func parseText(s *Setting, text string) (v value, err error) {
	v = value{setting: s, text: text}
	switch s.Kind {
	case Flag:
		v.flag, err = strconv.ParseBool(text)
	case Duration, Object: // the only object with a scalar form is ttl
		v.length, err = parseLength(text)
	case Count:
		v.number, err = strconv.ParseInt(text, 10, 64)
	case Size:
		v.number, err = parseSize(text)
	case Rate:
		v.rate, err = parseRate(text)
	case Choice:
		if !slices.Contains(s.Choices, text) {
			err = errNotAllowed
		}
	}
	if err == nil && !s.inRange(v) {
		err = errNotAllowed
	}
	return v, err
}

var errNotAllowed = fmt.Errorf("not allowed")

func (s *Setting) inRange(v value) bool {
	measure := func(text string) int64 { // of a bound, in the unit of the kind
		switch s.Kind {
		case Duration, Object:
			length, _ := parseLength(text)
			return int64(length)
		case Size:
			size, _ := parseSize(text)
			return size
		}
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	}
	var n int64
	switch s.Kind {
	case Duration, Object:
		n = int64(v.length)
	case Count, Size:
		n = v.number
	default:
		return true
	}
	return n >= 0 && (s.Least == "" || n >= measure(s.Least)) && (s.Most == "" || n <= measure(s.Most))
}

// parseLength is time.ParseDuration, and days in front: "7d", "1d12h".
func parseLength(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, errNotAllowed
	}
	length := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return length, nil
	}
	more, err := time.ParseDuration(rest)
	return length + more, err
}

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n > math.MaxInt64/unit.bytes {
			return 0, errNotAllowed
		}
		return n * unit.bytes, nil
	}
	return 0, errNotAllowed
}

func parseRate(text string) (PerTime, error) {
	count, unit, ok := strings.Cut(text, "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	n, err := strconv.Atoi(count)
	if !ok || per == 0 || err != nil || n < 1 {
		return PerTime{}, errNotAllowed
	}
	return PerTime{Count: n, Per: per}, nil
}

// textList reads ["a", "b"], or "a" as a list of one.
func textList(e hclsyntax.Expression, ctx *hcl.EvalContext) ([]string, hcl.Diagnostics) {
	given, diags := e.Value(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	bad := hcl.Diagnostics{problem(e.Range(), "this is a list of texts", sentence("found "+found(e, given)+`; allowed is a list such as ["a", "b"]`))}
	if text, ok := asText(given); ok {
		return []string{text}, nil
	}
	if given.IsNull() || !given.CanIterateElements() || given.Type().IsObjectType() {
		return nil, bad
	}
	var out []string
	for i, item := range given.AsValueSlice() {
		text, ok := asText(item)
		if !ok {
			return nil, hcl.Diagnostics{problem(itemRange(e, i), "this is a text", "Found a list, an object or null in a list of texts.")}
		}
		out = append(out, text)
	}
	return out, nil
}

// itemRange is where the item of a list stands, or the list when it is not
// written out.
func itemRange(list hclsyntax.Expression, i int) hcl.Range {
	if t, ok := list.(*hclsyntax.TupleConsExpr); ok && i < len(t.Exprs) {
		return t.Exprs[i].Range()
	}
	return list.Range()
}

func (l *loader) readTable(v value) (value, bool) {
	given, ok := l.constant(v.expr)
	if !ok {
		return v, false
	}
	v.table = map[string]string{}
	if given.IsNull() || !given.Type().IsObjectType() {
		l.fail(v.at, v.setting.Name+" is a map", sentence("found "+found(v.expr, given)+`; allowed is a map such as { name = "text" }`))
		return v, false
	}
	members := given.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		item := members[name]
		text, ok := asText(item)
		if !ok {
			l.fail(v.at, fmt.Sprintf("%s.%s is a text", v.setting.Name, name), `Found a list, an object or null; allowed is a text in quotes.`)
			return v, false
		}
		v.table[name] = text
	}
	return v, true
}
