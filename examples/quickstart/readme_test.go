package quickstart_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the README shows of the demo is what the demo shows.
func checkReadme(t *testing.T, table map[string]line) {
	t.Helper()
	if shown := parseTable(t, readme(t)); !maps.Equal(shown, table) {
		t.Errorf("README.md shows another table than the demo: paste its output\nREADME: %v\ndemo:   %v", shown, table)
	}
}

func TestConfigurationOfTheReadmeLoads(t *testing.T) {
	_, rest, _ := strings.Cut(readme(t), "```hcl\n")
	text, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("README.md has no configuration")
	}
	path := filepath.Join(t.TempDir(), "oneticket.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, diags := config.Load(path); diags.Len() > 0 {
		var said strings.Builder
		if _, err := diags.WriteTo(&said); err != nil {
			t.Fatal(err)
		}
		t.Errorf("the configuration in README.md: %s", said.String())
	}
}

// TestConfigurationOfTheReadmeIsInForm, as "oneticket fmt --check" wants it.
func TestConfigurationOfTheReadmeIsInForm(t *testing.T) {
	_, rest, _ := strings.Cut(readme(t), "```hcl\n")
	text, _, _ := strings.Cut(rest, "```\n")
	formatted, diags := config.Format([]byte(text), "README.md")
	if diags.HasErrors() || string(formatted) != text {
		t.Errorf("the configuration in README.md is not in form; it is:\n%s%s", formatted, diags)
	}
}

// TestMetricsOfTheReadmeAreThoseThatThereAre, all of them.
func TestMetricsOfTheReadmeAreThoseThatThereAre(t *testing.T) {
	m := admin.NewMetrics()
	m.DeadLetters(func() float64 { return 0 })
	m.Provisional(func() float64 { return 0 })
	descriptions := make(chan *prometheus.Desc)
	go func() {
		m.Registry().Describe(descriptions)
		close(descriptions)
	}()
	there := map[string]bool{}
	for d := range descriptions {
		if name := regexp.MustCompile(`oneticket_\w+`).FindString(d.String()); name != "" {
			there[name] = true
		}
	}
	wantSame(t, "metrics", allOf(readme(t), `oneticket_\w+`), there)
}

// TestReasonsOfTheReadmeAreThoseOfTheCode: a word that an operator meets in a
// header or a label is explained.
func TestReasonsOfTheReadmeAreThoseOfTheCode(t *testing.T) {
	shown := allOf(readme(t), "`[a-z_]+`")
	for file, constant := range map[string]string{
		"../../dedup/decision.go": `\t\w+ +Reason += ("\w+")`,
		"../../dedup/request.go":  `\tWhy\w+ += ("\w+")`,
		"../../dedup/outcome.go":  `\tOutcome\w+ +OutcomeKind += ("\w+")`,
	} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(constant).FindAllStringSubmatch(string(source), -1)
		if len(found) < 5 {
			t.Errorf("%s: only %d constants", file, len(found))
		}
		for _, c := range found {
			if word := "`" + strings.Trim(c[1], `"`) + "`"; !shown[word] {
				t.Errorf("README.md does not explain %s of %s", word, file)
			}
		}
	}
}

// TestCommandsOfTheReadmeAreThoseThatThereAre, all of them.
func TestCommandsOfTheReadmeAreThoseThatThereAre(t *testing.T) {
	help, err := exec.CommandContext(t.Context(), build(t), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	_, list, _ := strings.Cut(string(help), "Available Commands:")
	list, _, _ = strings.Cut(list, "Flags:")
	for _, m := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(list, -1) {
		there[m[1]] = true
	}
	delete(there, "help")
	shown := map[string]bool{}
	_, table, _ := strings.Cut(readme(t), "| command | what it does |")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, m := range regexp.MustCompile("`(?:oneticket )?([a-z]+)").FindAllStringSubmatch(cell, -1) {
			shown[m[1]] = true
		}
	}
	wantSame(t, "commands", shown, there)
}

func allOf(text, pattern string) map[string]bool {
	all := map[string]bool{}
	for _, one := range regexp.MustCompile(pattern).FindAllString(text, -1) {
		all[one] = true
	}
	return all
}

func wantSame(t *testing.T, what string, shown, there map[string]bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		if !there[name] {
			t.Errorf("README.md shows %s that there are not: %s", what, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if !shown[name] {
			t.Errorf("README.md does not show all %s: %s", what, name)
		}
	}
}
