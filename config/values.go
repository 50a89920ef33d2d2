package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A value is one setting as a block has it.
type value struct {
	setting *Setting
	expr    hclsyntax.Expression // nil for a default
	at      hcl.Range
	text    string
	length  time.Duration
	number  int64
	flag    bool
	list    []string
	table   map[string]string
	rate    PerTime
}

// values are the settings of one block.
type values struct {
	name string // as messages call the block
	at   hcl.Range
	set  map[string]value

	tried map[string]bool // settings that stand there, right or wrong
}

// layers are blocks of which an earlier one overrides a later one; behind them
// stand the defaults of the table.
type layers struct {
	block  string
	blocks []values
}

// get returns the first that is set, else the default; set says which.
func (l layers) get(name string) (v value, set bool) {
	for _, b := range l.blocks {
		if v, ok := b.set[name]; ok {
			return v, true
		}
	}
	return defaults[l.block+"."+name], false
}

func (l layers) text(name string) string          { v, _ := l.get(name); return v.text }
func (l layers) length(name string) time.Duration { v, _ := l.get(name); return v.length }
func (l layers) number(name string) int64         { v, _ := l.get(name); return v.number }
func (l layers) flag(name string) bool            { v, _ := l.get(name); return v.flag }
func (l layers) list(name string) []string        { v, _ := l.get(name); return v.list }
func (l layers) table(name string) map[string]string {
	v, _ := l.get(name)
	return v.table
}

func (l layers) has(name string) bool { _, set := l.get(name); return set }

// at is where the setting stands, else where the block does.
func (l layers) at(name string) hcl.Range {
	if v, set := l.get(name); set {
		return v.at
	}
	return l.blocks[0].at
}

// one is a single block over the defaults.
func one(block string, b values) layers { return layers{block: block, blocks: []values{b}} }

// settingsOf returns the settings that a block may have.
func settingsOf(block, label string) map[string]*Setting {
	found := map[string]*Setting{}
	for i := range settings {
		s := &settings[i]
		inBlock := s.Block == block || block == "preset" && s.Block == "rule" && !notInPresets[s.Name]
		if inBlock && (s.Label == "" || s.Label == label) {
			found[s.Name] = s
		}
	}
	return found
}

// notInPresets are the settings that name a user's own things.
var notInPresets = map[string]bool{"backend": true, "preset": true, "identity": true, "key": true, "action": true}

var (
	settings = Settings()
	defaults = parseDefaults()
)

func parseDefaults() map[string]value {
	all := map[string]value{}
	for i := range settings {
		s := &settings[i]
		v := value{setting: s}
		if s.Default != "" {
			v, _ = parseText(s, s.Default)
		}
		all[s.Block+"."+s.Name] = v
	}
	return all
}

// readBlock reads the attributes of one block.
func (l *loader) readBlock(block, label, title string, at hcl.Range, body *hclsyntax.Body) values {
	out := values{name: title, at: at, set: map[string]value{}, tried: map[string]bool{}}
	allowed := settingsOf(block, label)
	for _, attr := range sortedAttributes(body) {
		out.tried[attr.Name] = true
		s, ok := allowed[attr.Name]
		if !ok {
			l.fail(attr.NameRange, fmt.Sprintf("unknown setting %q in %s", attr.Name, title),
				choices("It can have", names(allowed), elsewhere(attr.Name, names(allowed))))
			continue
		}
		if v, ok := l.readValue(s, attr.Expr); ok {
			out.set[attr.Name] = v
		}
	}
	for _, name := range names(allowed) {
		s := allowed[name]
		if _, given := body.Attributes[s.Name]; s.Required && !given {
			l.fail(at, fmt.Sprintf("%s has no %s", title, s.Name), fmt.Sprintf("It needs %s = VALUE: %s.", s.Name, s.Means))
		}
	}
	return out
}

// elsewhere says in which block an unknown setting is known, or which name was
// probably meant.
func elsewhere(name string, allowed []string) string {
	var homes []string
	for _, s := range settings {
		if s.Name != name || s.Block == "preset" {
			continue
		}
		home := "at the top level"
		switch {
		case s.Label != "":
			home = fmt.Sprintf("in %s %q", s.Block, s.Label)
		case s.Block != "":
			home = "in " + s.Block
		}
		if !slices.Contains(homes, home) {
			homes = append(homes, home)
		}
	}
	if hint := nearest(name, allowed); len(homes) == 0 || hint != "" && Nearest(name, allowed) != name {
		return hint
	}
	return fmt.Sprintf(" There is a setting of that name %s.", strings.Join(homes, " and "))
}

func names(allowed map[string]*Setting) []string {
	var out []string
	for name := range allowed {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func sortedAttributes(body *hclsyntax.Body) []*hclsyntax.Attribute {
	var out []*hclsyntax.Attribute
	for _, attr := range body.Attributes {
		out = append(out, attr)
	}
	slices.SortFunc(out, func(a, b *hclsyntax.Attribute) int { return a.SrcRange.Start.Byte - b.SrcRange.Start.Byte })
	return out
}
