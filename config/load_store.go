package config

import (
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// LoadStore is Load for a command that only needs the store: the Config has
// StateDir, Store, Files and the names of the Rules, and nothing else is read
// or checked. So the command works where the environment of the others is not.
func LoadStore(path string) (*Config, Diagnostics) {
	files, missing := readFiles(path)
	if missing != nil {
		return nil, Diagnostics{list: hcl.Diagnostics{missing}}
	}
	return parseStore(files, os.LookupEnv)
}

func parseStore(files map[string][]byte, getenv Getenv) (*Config, Diagnostics) {
	l := &loader{files: files, getenv: getenv, constants: constantContext(getenv), config: &Config{}, blocks: map[string]values{}}
	l.config.Files = slices.Sorted(maps.Keys(files))
	var tops []*hclsyntax.Body
	var blocks hclsyntax.Blocks
	for _, name := range l.config.Files {
		body, diags := parseFile(files[name], name)
		l.diags = append(l.diags, diags...)
		tops = append(tops, only(body, "state_dir"))
		blocks = append(blocks, body.Blocks...)
	}
	l.readTop(tops)
	for _, b := range blocks {
		if b.Type == "store" {
			l.readAnyBlock(b)
		}
	}
	l.config.StateDir = l.path(l.only(""), "state_dir")
	l.fillStore()
	for _, name := range l.ruleNames(blocks) {
		l.config.Rules = append(l.config.Rules, &Rule{Name: name})
	}
	diags := Diagnostics{list: l.diags, files: l.files, blocks: l.blocks}
	if diags.HasErrors() {
		return nil, diags
	}
	return l.config, diags
}

// only is the body with one of its attributes, and without blocks.
func only(body *hclsyntax.Body, name string) *hclsyntax.Body {
	out := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: body.SrcRange, EndRange: body.EndRange}
	if a, ok := body.Attributes[name]; ok {
		out.Attributes[name] = a
	}
	return out
}

// ruleNames are those of the rules, and of the backends that no rule names.
func (l *loader) ruleNames(blocks hclsyntax.Blocks) (rules []string) {
	used := map[string]bool{}
	var backends []string
	for _, b := range blocks {
		switch {
		case len(b.Labels) != 1:
		case b.Type == "backend":
			backends = append(backends, b.Labels[0])
		case b.Type == "rule":
			rules = append(rules, b.Labels[0])
			if a, ok := b.Body.Attributes["backend"]; ok {
				backend, _ := a.Expr.Value(l.constants)
				text, _ := asText(backend)
				used[text] = true
			}
		}
	}
	for _, name := range backends {
		if !used[name] {
			rules = append(rules, name)
		}
	}
	return rules
}
