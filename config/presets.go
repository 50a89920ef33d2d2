package config

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

//go:embed presets
var presetFiles embed.FS

// genericPreset is that of a backend of which nothing is known.
const genericPreset = "generic/json"

// A preset is what a ticket system's API is like: the settings of a rule, from
// an embedded file.
type preset struct {
	name string // family/name
	values
}

// unprovenFile holds presets of systems that nobody has seen one of meet: many
// in one file, each a block.
const unprovenFile = "presets/unproven.hcl"

// unproven are the blocks of that file, by name.
var unproven = sync.OnceValue(func() map[string]*hclsyntax.Block {
	blocks := map[string]*hclsyntax.Block{}
	source, _ := presetFiles.ReadFile(unprovenFile)                          // embedded: there
	parsed, _ := hclsyntax.ParseConfig(source, unprovenFile, hcl.InitialPos) // a test reads it
	if body, ok := parsed.Body.(*hclsyntax.Body); ok {
		for _, block := range body.Blocks {
			if block.Type == "preset" && len(block.Labels) == 1 {
				blocks[block.Labels[0]] = block
			}
		}
	}
	return blocks
})

// inUnproven reports whether the preset is one of that file.
func inUnproven(name string) bool { return unproven()[name] != nil }

// isUnproven reports whether nobody has seen the preset meet its system.
func (p *preset) isUnproven() bool { return inUnproven(p.name) || p.set["unproven"].flag }

// Presets returns the names of all presets, in order.
func Presets() []string {
	var all []string
	_ = fs.WalkDir(presetFiles, "presets", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(file) == ".hcl" && file != unprovenFile {
			all = append(all, strings.TrimSuffix(strings.TrimPrefix(file, "presets/"), ".hcl"))
		}
		return err
	})
	for name := range unproven() {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// PresetSource returns the text of a preset: the file, or its part of the file
// of unproven ones.
func PresetSource(name string) ([]byte, error) {
	block := unproven()[name]
	if block == nil {
		return presetFiles.ReadFile("presets/" + name + ".hcl")
	}
	source, err := presetFiles.ReadFile(unprovenFile)
	if err != nil {
		return nil, err
	}
	return withComment(source, block.Range().Start.Byte, block.Body.SrcRange.End.Byte), nil
}

// withComment is the text from start to end with the lines of comment before it.
func withComment(source []byte, start, end int) []byte {
	for start > 0 {
		line := bytes.LastIndexByte(source[:start-1], '\n') + 1
		if source[line] != '#' {
			break
		}
		start = line
	}
	return append(slices.Clone(source[start:end]), '\n')
}

// backendPreset is the one that the backend names; else that of its name; else
// the generic one.
func (l *loader) backendPreset(b *backendBlock) *preset {
	if v, ok := b.set["preset"]; ok {
		return l.preset(v.text, v.at)
	}
	if found := l.findPreset(b.name); found != nil {
		return found
	}
	return l.findPreset(genericPreset)
}

// preset returns the one of the name, which somebody wrote at the place.
func (l *loader) preset(name string, at hcl.Range) *preset {
	found := l.findPreset(name)
	if found == nil {
		l.fail(at, fmt.Sprintf("unknown preset %q", name), presetHint(name))
	}
	return found
}

func presetHint(name string) string {
	if hint := nearest(name, Presets()); hint != "" {
		return strings.TrimSpace(hint) + ` "oneticket init" lists all.`
	}
	return known("preset", Presets())
}

// findPreset returns the preset of the name, or the default one of the family
// of that name; nil when there is none.
func (l *loader) findPreset(name string) *preset {
	for _, candidate := range Presets() {
		if candidate == name {
			return l.choose(l.readPreset(name))
		}
	}
	for _, candidate := range Presets() {
		if family, _, _ := strings.Cut(candidate, "/"); family != name {
			continue
		}
		if p := l.readPreset(candidate); p.set["default"].flag {
			return l.choose(p)
		}
	}
	return nil
}

// choose notes that the configuration depends on the preset.
func (l *loader) choose(p *preset) *preset {
	l.hashed[p.file()] = l.files[p.file()]
	return p
}

func (p *preset) file() string {
	if inUnproven(p.name) {
		return unprovenFile
	}
	return "presets/" + p.name + ".hcl"
}

func (l *loader) readPreset(name string) *preset {
	if p, ok := l.presets[name]; ok {
		return p
	}
	p := &preset{name: name, values: values{name: fmt.Sprintf("preset %q", name), set: map[string]value{}}}
	l.presets[name] = p
	source, err := presetFiles.ReadFile(p.file())
	l.files[p.file()] = source
	if block := unproven()[name]; block != nil {
		p.values = l.readBlock("preset", "", p.name, block.Body.SrcRange, block.Body)
		return p
	}
	parsed, diags := hclsyntax.ParseConfig(source, p.file(), hcl.InitialPos)
	if l.add(diags); diags.HasErrors() || err != nil {
		return p
	}
	body := parsed.Body.(*hclsyntax.Body)
	p.values = l.readBlock("preset", "", p.name, body.SrcRange, body)
	return p
}
