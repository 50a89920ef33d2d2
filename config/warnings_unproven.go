package config

import "fmt"

// warnOfUnproven tells of presets that nobody has seen meet the system.
func (l *loader) warnOfUnproven() {
	told := map[string]bool{}
	for _, r := range l.read {
		name := r.rule.Backend.Name + " " + r.rule.Preset
		if p := l.presets[r.rule.Preset]; p == nil || !p.isUnproven() || told[name] || r.rule.Action == "off" {
			continue
		}
		told[name] = true
		l.caution(r, "preset", fmt.Sprintf("the preset %q is unproven", r.rule.Preset),
			"It was made from descriptions of the API, and was never seen with a client or a system. Watch what it takes for a create, and for a ticket, with action = \"observe\" first; where it is wrong, the rule says so.")
	}
}
