package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// warnOfUnconnected: what somebody sets and nothing goes by must not look as
// if it held.
func (l *loader) warnOfUnconnected() {
	for i := range l.backends {
		l.warnOfIdle("backend", l.backends[i].values)
	}
	for _, r := range l.read {
		if r.rule.Action != "off" && !r.rule.Generated {
			l.warnOfIdle("rule", r.from.blocks[0])
		}
	}
}

func (l *loader) warnOfIdle(block string, own values) {
	for _, s := range settings {
		v, set := own.set[s.Name]
		if s.Block != block || s.Lacks == "" || !set || s.goesBy(v) || l.hasWarning(v.at) {
			continue
		}
		detail := fmt.Sprintf("It needs %s, which this build does not have. Take the setting out", s.Lacks)
		if len(s.Does) > 0 {
			detail += fmt.Sprintf(", or write what holds: %s = %s", s.Name, s.written())
		}
		l.diags = append(l.diags, warning(v.at, s.Name+" has no effect in this build", detail+"."))
	}
}

// goesBy reports whether the build does what the value says.
func (s *Setting) goesBy(v value) bool {
	return slices.ContainsFunc(s.Does, func(text string) bool {
		does, err := parseText(s, text)
		if s.Kind == Choice {
			return v.text == text
		}
		return err == nil && v.length == does.length && v.number == does.number && v.flag == does.flag
	})
}

// written are the values that hold as one writes them.
func (s *Setting) written() string {
	if s.Kind == Flag || s.Kind == Count {
		return strings.Join(s.Does, " or ")
	}
	return `"` + strings.Join(s.Does, `" or "`) + `"`
}

// hasWarning: one is enough for one value.
func (l *loader) hasWarning(at hcl.Range) bool {
	return slices.ContainsFunc(l.diags, func(d *hcl.Diagnostic) bool { return d.Subject != nil && *d.Subject == at })
}
