package config_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"oneticket/config"
)

// TestReferencePage keeps REFERENCE.md equal to the code; "go generate
// ./config" writes it.
func TestReferencePage(t *testing.T) {
	page := reference()
	if *update {
		if err := os.WriteFile("REFERENCE.md", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := os.ReadFile("REFERENCE.md")
	if err != nil || string(written) != page {
		t.Errorf("REFERENCE.md is not what the code says: run go generate ./config (%v)", err)
	}
}

func TestEveryFunctionAndVariableIsExplained(t *testing.T) {
	takes := config.FunctionTakes()
	for name := range takes {
		if _, ok := functionWords[name]; !ok {
			t.Errorf("the reference has no function %s", name)
		}
	}
	for name, words := range functionWords {
		if _, ok := takes[name]; !ok || !strings.HasPrefix(words[0], name+"(") {
			t.Errorf("the reference has %s, which is no function", name)
		}
	}
	known := map[string]bool{}
	for where, names := range config.VariablesOf() {
		for _, name := range names {
			known[name] = true
			if variableWords[name] == "" {
				t.Errorf("the reference has no variable %s (%s)", name, where)
			}
		}
	}
	for name := range variableWords {
		if !known[name] {
			t.Errorf("the reference has %s, which is no variable", name)
		}
	}
}

// blockWords introduce each block, in the order of the page.
var blockWords = []struct{ block, title, words string }{
	{"", "The top level", "Settings outside of blocks."},
	{"store", "store \"sqlite\", \"redis\" or \"postgres\"", "Where keys are kept. There is one; without the block it is the embedded SQLite, one file in `state_dir`."},
	{"backend", "backend \"NAME\"", "A ticket system. A backend that no rule names is guarded against retries: the same request within `window` is the same create."},
	{"rule", "rule \"NAME\"", "Which requests open a ticket on a backend, and how the fault is read in them. What a rule does not set, its preset sets; objects are laid over each other member by member, and `null` takes a member away. Rules are asked in the order of the file; the first that matches decides."},
	{"in_flight", "in_flight", "Duplicates of a create that is under way."},
	{"limits", "limits", "What is read and kept, in bytes."},
	{"dead_letter", "dead_letter", "What is kept of creates that never became tickets."},
	{"principals", "principals", "Who gets stored answers."},
	{"envoy", "envoy", "What `oneticket run` writes into the configuration of its Envoy, and what `oneticket serve` believes of an Envoy that somebody else runs: it answers sooner than that Envoy gives up. `oneticket doctor` finds out whether it is true."},
	{"preset", "In a preset only", "A preset is a file in `config/presets`. It may have the settings of a rule but for `backend`, `preset`, `identity`, `key` and `action`, and these:"},
}

func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, part := range blockWords {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", part.title, part.words)
		b.WriteString("| setting | value | default | what it is |\n| :-- | :-- | :-- | :-- |\n")
		for _, s := range config.Settings() {
			if s.Block == part.block {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", settingName(s), settingValue(s), settingDefault(s), settingMeaning(s))
			}
		}
	}
	b.WriteString(variablesPart())
	b.WriteString(functionsPart())
	b.WriteString(presetsPart())
	return b.String()
}

const referenceHead = `# Reference of the configuration

<!-- Made from the code by "go generate ./config". Do not edit. -->

A configuration is a file, or the ` + "`*.hcl`" + ` files of a folder, named by ` + "`-c`" + ` or ` + "`ONETICKET_CONFIG`" + ` (default ` + "`oneticket.hcl`" + `). It is
[HCL](https://github.com/hashicorp/hcl): settings ` + "`NAME = VALUE`" + `, one a line, and blocks ` + "`KIND \"NAME\" { ... }`" + `. ` + "`oneticket init PRESET`" + ` writes a first
one, ` + "`oneticket validate`" + ` checks it, ` + "`oneticket fmt`" + ` puts it in form.

| value | is written |
| :-- | :-- |
| text | ` + "`\"...\"`" + `, with ` + "`\\\\`" + ` for a backslash |
| duration | ` + "`\"250ms\"`, `\"10s\"`, `\"1h30m\"`, `\"7d\"`" + ` |
| size | bytes: ` + "`4096`, `\"256KiB\"`, `\"4MiB\"`" + ` |
| rate | ` + "`\"10/s\"`, `\"6/m\"`, `\"100/h\"`" + ` |
| count | a whole number |
| texts | ` + "`[\"a\", \"b\"]`" + `; one text is a list of one |
| map | ` + "`{ name = \"text\" }`" + ` |
| expression | over a request or an answer, see [below](#what-expressions-can-name) |
| object | ` + "`{ member = ... }`" + `, with members of their own meaning |

All but expressions are the same for every request; their only function that looks outside is ` + "`env(\"NAME\")`" + `. A path that is not absolute (` + "`state_dir`" + `, the
` + "`path`" + ` of a store, that of ` + "`socket`, the files of `tls`" + `) is meant from the folder of the configuration file, not from where oneticket is called.
`

func settingName(s config.Setting) string {
	name := "`" + s.Name + "`"
	if s.Label != "" {
		name = fmt.Sprintf("`%s` (%s)", s.Name, s.Label)
	}
	if s.Required {
		name += ", required"
	}
	return name
}

func settingValue(s config.Setting) string {
	switch {
	case s.Kind == config.Object && s.Least != "":
		return fmt.Sprintf("duration, or object of them, %s to %s", s.Least, s.Most)
	case s.Kind == config.Choice:
		return "`" + strings.Join(quoted(s.Choices), "`, `") + "`"
	case s.Least != "" && s.Most != "":
		return fmt.Sprintf("%s, %s to %s", s.Kind, s.Least, s.Most)
	case s.Most != "":
		return fmt.Sprintf("%s, up to %s", s.Kind, s.Most)
	}
	return string(s.Kind)
}

func quoted(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, fmt.Sprintf("%q", text))
	}
	return out
}

func settingDefault(s config.Setting) string {
	switch {
	case s.Default == "":
		_, told, _ := strings.Cut(s.Means, defaultMark)
		return told
	case s.Kind == config.Flag || s.Kind == config.Count:
		return "`" + s.Default + "`"
	}
	return fmt.Sprintf("`%q`", s.Default)
}

// defaultMark introduces a default that is no value, at the end of what a
// setting means.
const defaultMark = "; default: "

func settingMeaning(s config.Setting) string {
	text, _, _ := strings.Cut(s.Means, defaultMark)
	if s.Danger != "" {
		text += ". **Danger:** " + s.Danger
	}
	switch {
	case len(s.Does) > 0:
		text += fmt.Sprintf(". **In this build only `%s`**: it lacks %s", strings.Join(s.Does, "` or `"), s.Lacks)
	case s.Lacks != "":
		text += ". **No effect in this build**: it lacks " + s.Lacks
	}
	return cell(text)
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func variablesPart() string {
	var b strings.Builder
	b.WriteString(`
## What expressions can name

What is absent, null, blank or an unexpanded macro of a monitoring system is *missing*. ` + "`==`, `!=` and `contains`" + ` compare as text; with a missing side
` + "`==` is false and `!=`" + ` is missing. A function given what is missing gives missing, but for ` + "`coalesce`, `try`, `can`, `optional` and `absent`" + `.

| name | known | what it is |
| :-- | :-- | :-- |
`)
	where := map[string][]string{}
	for place, names := range config.VariablesOf() {
		for _, name := range names {
			where[name] = append(where[name], place)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(variableWords)) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, places(where[name]), cell(variableWords[name]))
	}
	b.WriteString(`
"Requests" are the settings over a request (` + "`match.when`, `identity`, `key`, `fingerprint`, `class`, `scope`, `witness`" + ` ...); "answers" those over the answer to a
create (` + "`success`, `ticket`, `refused`, `exists`, `remembered`" + `); the others are the outside calls of the same names.
`)
	return b.String()
}

// places says where a name is known, in the order of the page.
func places(all []string) string {
	words := map[string]string{"request": "requests", "answer": "answers", "ticket": "ticket.id", "lookup": "lookup", "item": "tickets of lookup",
		"read": "read", "update": "update, clear, reopen", "resolve": "resolve"}
	var out []string
	for _, place := range []string{"request", "answer", "ticket", "lookup", "item", "read", "update", "resolve"} {
		if slices.Contains(all, place) && (place != "ticket" || !slices.Contains(all, "answer")) {
			out = append(out, words[place])
		}
	}
	if len(out) == len(words)-1 { // ticket.id is over an answer too
		return "everywhere"
	}
	return strings.Join(out, "; ")
}

func functionsPart() string {
	var b strings.Builder
	b.WriteString("\n## Functions\n\nOf oneticket itself:\n\n| function | gives |\n| :-- | :-- |\n")
	for _, name := range ownFunctions {
		b.WriteString(functionLine(name))
	}
	b.WriteString("\nThose of Terraform, under its names:\n\n| function | gives |\n| :-- | :-- |\n")
	for _, name := range slices.Sorted(maps.Keys(functionWords)) {
		if !slices.Contains(ownFunctions, name) {
			b.WriteString(functionLine(name))
		}
	}
	return b.String()
}

func functionLine(name string) string {
	words := functionWords[name]
	return fmt.Sprintf("| `%s` | %s |\n", cell(words[0]), cell(words[1]))
}

func presetsPart() string {
	var b strings.Builder
	b.WriteString(`
## Presets

A backend whose name is that of a preset, or of its family, has that preset; others have ` + "`generic/json`" + `, or the one that they name.

| preset | what for |
| :-- | :-- |
`)
	for _, name := range config.Presets() {
		info, _ := config.FindPreset(name)
		if info.Unproven {
			info.Title += " (unproven)"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, cell(info.Title))
	}
	return b.String()
}
