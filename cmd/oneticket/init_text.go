package main

import (
	"fmt"
	"strings"

	"oneticket/config"
)

// An initialBackend is one block that init writes.
type initialBackend struct {
	info     config.PresetInfo
	label    string // of the block
	variable string // of the environment, with the address
	port     int    // that stands in for it
}

// newBackends names the blocks by their families; where two presets are of one
// family, by both parts of the preset's name, and if need be by a number.
func newBackends(presets []config.PresetInfo) []initialBackend {
	families, taken := map[string]int{}, map[string]int{}
	for _, p := range presets {
		families[p.Family()]++
	}
	var out []initialBackend
	for i, p := range presets {
		label := p.Family()
		if families[label] > 1 {
			label = strings.ReplaceAll(p.Name, "/", "_")
		}
		if taken[label]++; taken[label] > 1 {
			label = fmt.Sprintf("%s_%d", label, taken[label])
		}
		variable := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(label)) + "_URL"
		out = append(out, initialBackend{info: p, label: label, variable: variable, port: 8081 + i})
	}
	return out
}

const initialHead = `# The configuration of oneticket. "oneticket validate" checks it, "oneticket fmt"
# puts it in form, "oneticket run" runs it. All settings, with their defaults and
# dangers: config/REFERENCE.md of the sources.

# Where keys are kept. The default is an embedded store, one file in state_dir,
# which has to outlive restarts.
# state_dir = "/var/lib/oneticket"
`

// initialConfig is the text of the file.
func initialConfig(backends []initialBackend) string {
	var b strings.Builder
	b.WriteString(initialHead)
	for i, one := range backends {
		about := ""
		if one.info.Unproven {
			about = aboutUnproven
		}
		fmt.Fprintf(&b, `
# %s.
%sbackend %q {
  url    = env(%q) # or the address itself: "https://..."
  preset = %q
  listen = "127.0.0.1:%d" # the automation sends to this address instead
}

`, one.info.Title, about, one.label, one.variable, one.info.Name, one.port)
		if i == 0 {
			b.WriteString(aboutRules)
		} else {
			b.WriteString("# One ticket for one fault, as above:\n#\n")
		}
		b.WriteString(commented(initialRule(one)))
	}
	return b.String()
}

const aboutUnproven = `# Unproven: this preset was made from descriptions of the API, and was never seen
# with a client or a system. Begin with a rule and action = "observe".
`

const aboutRules = `# As it stands, a backend is guarded against retries: the same request within ten
# minutes is the same create. One ticket for one fault takes a rule, and an
# identity: the fields that say which fault. A field too many costs a duplicate,
# a field too few merges two faults. Leave out titles, times, counters and event
# ids. "observe" decides and counts, and does nothing; when the metrics show what
# you expect, take the line out.
#
`

// initialRule is the rule that the comment shows.
func initialRule(one initialBackend) string {
	fields := one.info.Identity
	if len(fields) == 0 {
		fields = []config.PresetField{{Name: "element", Expression: "lower(body.host)"}, {Name: "kind", Expression: "body.check"}}
	}
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rule %q {\n  backend = %q\n", one.label+"_faults", one.label)
	if len(fields) == 1 {
		b.WriteString("  scope   = host # as it is anyway; said, because the one field names one fault by itself\n")
	}
	b.WriteString("  identity = {\n")
	for _, f := range fields {
		fmt.Fprintf(&b, "    %-*s = %s\n", width, f.Name, f.Expression)
	}
	b.WriteString("  }\n  ttl    = \"1h\" # longer than the gap between two re-fires of a fault\n  action = \"observe\"\n}\n")
	return b.String()
}

func commented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("# " + line)
	}
	return b.String()
}
