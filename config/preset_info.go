package config

import (
	"bufio"
	"bytes"
	"regexp"
	"strings"
)

// A PresetInfo is what a person wants to know of a preset before using it.
type PresetInfo struct {
	Name  string // family/name
	Title string // the first sentence of the file's comment

	// Unproven: it was made from what is written of the API, and was never seen
	// with a client or a system.
	Unproven bool

	// Identity is an example of fields that say which fault: what stands in the
	// comments of the file as identity = { ... }. Empty when there is none.
	Identity []PresetField
}

// A PresetField is one field of an example.
type PresetField struct{ Name, Expression string }

// Family is the part of the name before the slash.
func (p PresetInfo) Family() string {
	family, _, _ := strings.Cut(p.Name, "/")
	return family
}

// FindPreset returns the preset of the name, or the default one of the family
// of that name.
func FindPreset(name string) (PresetInfo, bool) {
	l := &loader{files: map[string][]byte{}, hashed: map[string][]byte{}, presets: map[string]*preset{}, constants: constantContext(noEnvironment)}
	found := l.findPreset(name)
	if found == nil {
		return PresetInfo{}, false
	}
	source, err := PresetSource(found.name)
	if err != nil {
		return PresetInfo{}, false
	}
	info := presetInfo(found.name, source)
	info.Unproven = found.isUnproven()
	return info, true
}

func presetInfo(name string, source []byte) PresetInfo {
	info := PresetInfo{Name: name}
	var lead []string
	atTop, inExample := true, false
	for lines := bufio.NewScanner(bytes.NewReader(source)); lines.Scan(); {
		comment, isComment := strings.CutPrefix(lines.Text(), "#")
		comment = strings.TrimSpace(comment)
		if !isComment || comment == "" {
			atTop, inExample = false, false
		}
		if atTop {
			lead = append(lead, comment)
		}
		if field := exampleField.FindStringSubmatch(comment); inExample && field != nil {
			info.Identity = append(info.Identity, PresetField{field[1], field[2]})
		}
		inExample = isComment && (comment == "identity = {" || inExample && comment != "}")
	}
	info.Title, _, _ = strings.Cut(strings.Join(lead, " "), ". ")
	info.Title = strings.TrimSuffix(info.Title, ".")
	return info
}

var exampleField = regexp.MustCompile(`^([A-Za-z0-9_-]+) *= (.+)$`)
