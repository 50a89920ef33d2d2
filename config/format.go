package config

import (
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format returns the text of a file in the usual form: equals signs in a
// column, one blank around operators, two per level. Where the syntax is broken
// there is nothing to format, and the Diagnostics say where.
func Format(text []byte, name string) ([]byte, Diagnostics) {
	if _, diags := parseFile(text, name); diags.HasErrors() {
		return nil, Diagnostics{list: diags, files: map[string][]byte{name: text}}
	}
	return hclwrite.Format(text), Diagnostics{}
}
