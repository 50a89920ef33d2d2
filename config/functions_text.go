package config

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

func textFunctions() map[string]builtin {
	all := map[string]builtin{
		"startswith": boolOfTexts(strings.HasPrefix), "endswith": boolOfTexts(strings.HasSuffix), "strcontains": boolOfTexts(strings.Contains),
		"base64decode": textFunc(1, func(a []string) (cty.Value, error) {
			out, err := base64.StdEncoding.DecodeString(a[0])
			return cty.StringVal(string(out)), err
		}),
		"replace":  textFunc(3, replace),
		"regex":    textFunc(2, regexFirst),
		"regexall": textFunc(2, regexAll),
	}
	for name, f := range map[string]func(string) string{
		"lower": strings.ToLower, "upper": strings.ToUpper, "trimspace": strings.TrimSpace,
		"basename": path.Base, "dirname": path.Dir, "urlencode": url.QueryEscape,
		"base64encode": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"md5":          func(s string) string { sum := md5.Sum([]byte(s)); return hex.EncodeToString(sum[:]) },
		"sha1":         func(s string) string { sum := sha1.Sum([]byte(s)); return hex.EncodeToString(sum[:]) },
		"sha256":       func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) },
		"sha512":       func(s string) string { sum := sha512.Sum512([]byte(s)); return hex.EncodeToString(sum[:]) },
	} {
		all[name] = textFunc(1, func(a []string) (cty.Value, error) { return cty.StringVal(f(a[0])), nil })
	}
	return all
}

func boolOfTexts(f func(a, b string) bool) builtin {
	return textFunc(2, func(a []string) (cty.Value, error) { return cty.BoolVal(f(a[0], a[1])), nil })
}

// patterns keeps compiled regular expressions. Nearly all are literals of the
// configuration; those that an expression makes of a body are not kept for
// ever, so their number is bounded.
var patterns struct {
	compiled sync.Map // string -> *regexp.Regexp
	count    atomic.Int64
}

const maxPatterns = 1024

func pattern(text string) (*regexp.Regexp, error) {
	if found, ok := patterns.compiled.Load(text); ok {
		return found.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(text)
	if err == nil && patterns.count.Load() < maxPatterns {
		patterns.count.Add(1)
		patterns.compiled.Store(text, re)
	}
	return re, err
}

// replace replaces a text, or what a pattern between slashes matches.
func replace(a []string) (cty.Value, error) {
	text, old, with := a[0], a[1], a[2]
	if len(old) < 2 || old[0] != '/' || old[len(old)-1] != '/' {
		return cty.StringVal(strings.ReplaceAll(text, old, with)), nil
	}
	re, err := pattern(old[1 : len(old)-1])
	if err != nil {
		return missing, err
	}
	return cty.StringVal(re.ReplaceAllString(text, with)), nil
}

var errNoMatch = errors.New("the pattern does not match")

func regexFirst(a []string) (cty.Value, error) {
	re, err := pattern(a[0])
	if err != nil {
		return missing, err
	}
	found := re.FindStringSubmatchIndex(a[1])
	if found == nil {
		return missing, errNoMatch
	}
	return captured(re, a[1], found), nil
}

func regexAll(a []string) (cty.Value, error) {
	re, err := pattern(a[0])
	if err != nil {
		return missing, err
	}
	var all []cty.Value
	for _, found := range re.FindAllStringSubmatchIndex(a[1], -1) {
		all = append(all, captured(re, a[1], found))
	}
	return cty.TupleVal(all), nil
}

// captured is the whole match for a pattern without groups, a list for one
// with groups, an object for one whose groups have names.
func captured(re *regexp.Regexp, text string, at []int) cty.Value {
	group := func(i int) cty.Value {
		if at[2*i] < 0 {
			return missing
		}
		return cty.StringVal(text[at[2*i]:at[2*i+1]])
	}
	if re.NumSubexp() == 0 {
		return group(0)
	}
	names := re.SubexpNames()
	var list []cty.Value
	named := map[string]cty.Value{}
	for i := 1; i <= re.NumSubexp(); i++ {
		list = append(list, group(i))
		if names[i] != "" {
			named[names[i]] = group(i)
		}
	}
	if len(named) > 0 {
		return cty.ObjectVal(named)
	}
	return cty.TupleVal(list)
}

func asText(v cty.Value) (string, bool) {
	s, err := convert.Convert(v, cty.String)
	if err != nil || s.IsNull() || !s.IsKnown() {
		return "", false
	}
	return s.AsString(), true
}
