package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Diagnostics is everything that is wrong, or doubtful, in a configuration, and
// the text that it points into.
type Diagnostics struct {
	list   hcl.Diagnostics
	files  map[string][]byte
	blocks map[string]values // where the settings stand that Warn is about
}

// HasErrors reports whether the configuration cannot be used.
func (d Diagnostics) HasErrors() bool { return d.list.HasErrors() }

// Len is how many there are, warnings included.
func (d Diagnostics) Len() int { return len(d.list) }

// Errors is how many of them are mistakes; the others are warnings.
func (d Diagnostics) Errors() int {
	n := 0
	for _, one := range d.list {
		if one.Severity == hcl.DiagError {
			n++
		}
	}
	return n
}

// Error is all of them as text.
func (d Diagnostics) Error() string { return d.String() }

// Fail adds a mistake that was found elsewhere: it has no place in the files.
func (d *Diagnostics) Fail(summary, detail string) {
	d.list = append(d.list, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail})
}

// Warn adds what is legal and dangerous in a setting outside of backends and
// rules. Block is "" for the top level. It is shown where the setting stands,
// or else its block, if either does.
func (d *Diagnostics) Warn(block, setting, summary, detail string) {
	one := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail}
	if b, there := d.blocks[block]; there {
		if v, set := b.set[setting]; set {
			one.Subject = &v.at
		} else if block != "" {
			one.Subject = &b.at
		}
	}
	d.list = append(d.list, one)
}

// sorted are all of them by place, each once: a preset that two rules have is
// read twice.
func (d Diagnostics) sorted() hcl.Diagnostics {
	list := slices.Clone(d.list)
	slices.SortStableFunc(list, func(a, b *hcl.Diagnostic) int {
		switch {
		case a.Subject == nil && b.Subject == nil:
			return 0
		case a.Subject == nil:
			return 1
		case b.Subject == nil:
			return -1
		case a.Subject.Filename != b.Subject.Filename:
			return strings.Compare(a.Subject.Filename, b.Subject.Filename)
		}
		return a.Subject.Start.Byte - b.Subject.Start.Byte
	})
	return list
}

// distinct leaves out what is said twice of one place.
func distinct(list hcl.Diagnostics) hcl.Diagnostics {
	type said struct {
		at              hcl.Range
		summary, detail string
	}
	seen := map[said]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(one *hcl.Diagnostic) bool {
		if one.Subject == nil {
			return false
		}
		this := said{*one.Subject, one.Summary, one.Detail}
		twice := seen[this]
		seen[this] = true
		return twice
	})
}

func problem(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
}

func warning(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: &at}
}

// detailOf is the reason of the first error, as HCL tells it.
func detailOf(diags hcl.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			if extra, ok := hcl.DiagnosticExtra[interface{ FunctionCallError() error }](d); ok && extra.FunctionCallError() != nil {
				return extra.FunctionCallError().Error()
			}
			return d.Detail
		}
	}
	return ""
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".")
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
