package config

import "fmt"

// warnOfMerge: what cannot be merged is only reported.
func (l *loader) warnOfMerge(r readRule) {
	v, own := r.own("merge")
	if !own || v.text == "report" || l.diags.HasErrors() {
		return
	}
	missing, detail := "", ""
	switch rule := r.rule; {
	case rule.merge() == nil:
		missing = "a merge_" + v.text
		detail = fmt.Sprintf(`Neither the rule nor the preset %q says how: merge_%s = { method = "PATCH", path = "/tickets/${ticket.id}", body = { note = "double of ${survivor.id}" } }.`, rule.Preset, v.text)
	case rule.calls.read == nil:
		missing = "a read"
		detail = fmt.Sprintf("The preset %q cannot read a ticket, and none is closed without having been looked at. Give the rule a read.", rule.Preset)
	case len(rule.Backend.Credentials) == 0:
		missing = "credentials"
		detail = fmt.Sprintf(`No client is there whose credentials could be taken: give the backend %q its own, credentials = { Authorization = env("...") }.`, rule.Backend.Name)
	default:
		return
	}
	l.caution(r, "merge", fmt.Sprintf("merge = %q without %s", v.text, missing), "Doubles are only reported. "+detail)
}
