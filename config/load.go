package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"
)

// Load reads the file, or the *.hcl files of the folder, at path. The Config
// is nil when there are errors; there may be warnings beside one.
func Load(path string) (*Config, Diagnostics) {
	files, missing := readFiles(path)
	if missing != nil {
		return nil, Diagnostics{list: hcl.Diagnostics{missing}}
	}
	return Parse(files, os.LookupEnv)
}

func readFiles(path string) (map[string][]byte, *hcl.Diagnostic) {
	paths := []string{path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if info.IsDir() {
		// The pattern cannot be wrong: the folder's own name is not part of it.
		names, _ := fs.Glob(os.DirFS(path), "*.hcl")
		if len(names) == 0 {
			return nil, unreadable(path, errNoFiles)
		}
		paths = nil
		for _, name := range names {
			paths = append(paths, filepath.Join(path, name))
		}
	}
	files := map[string][]byte{}
	for _, p := range paths {
		if files[p], err = os.ReadFile(p); err != nil {
			return nil, unreadable(p, err)
		}
	}
	return files, nil
}

var errNoFiles = errors.New("no *.hcl file in it")

// unreadable says of a path what is wrong with it and what to do.
func unreadable(path string, err error) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "the configuration cannot be read", Detail: sentence(err.Error())}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Summary = "there is no configuration " + path
		d.Detail = `Write one with "oneticket init", or name another file or folder with -c or in ONETICKET_CONFIG.`
	case errors.Is(err, errNoFiles):
		d.Summary = "the folder " + path + " has no configuration"
		d.Detail = `Found no file that ends in ".hcl". Write one with "oneticket init", or name another file or folder with -c.`
	case errors.Is(err, fs.ErrPermission):
		d.Detail = sentence(err.Error() + "; this user has to be able to read it")
	}
	return d
}

// Parse is Load for files that were read already, by name. getenv answers
// env(...); nil is an empty environment.
func Parse(files map[string][]byte, getenv Getenv) (*Config, Diagnostics) {
	if getenv == nil {
		getenv = noEnvironment
	}
	l := &loader{
		files: maps.Clone(files), hashed: maps.Clone(files), getenv: getenv, constants: constantContext(getenv),
		config: &Config{}, blocks: map[string]values{}, presets: map[string]*preset{}, used: map[string]bool{},
	}
	l.parse(slices.Sorted(maps.Keys(files)))
	if !l.diags.HasErrors() {
		l.config.Hash = hash(l.hashed)
	}
	diags := Diagnostics{list: distinct(l.diags), files: l.files, blocks: l.blocks}
	if diags.HasErrors() {
		return nil, diags
	}
	return l.config, diags
}

// A loader collects what the files say, and what is wrong with it.
type loader struct {
	files     map[string][]byte // all texts that a diagnostic may point into
	hashed    map[string][]byte // those that the configuration depends on
	getenv    Getenv
	constants *hcl.EvalContext // for values that do not depend on a request
	diags     hcl.Diagnostics

	config   *Config
	blocks   map[string]values // those that stand once, by kind
	backends []backendBlock
	rules    []ruleBlock
	read     []readRule
	presets  map[string]*preset
	used     map[string]bool // backends that have a rule
	torn     bool            // blocks are missing because of a mistake of syntax
}

type ruleBlock struct {
	name  string
	twice bool // another one has the name: it is read for its own mistakes alone
	values
}

func constantContext(getenv Getenv) *hcl.EvalContext {
	callable := map[string]function.Function{}
	for name, f := range functions {
		if f.hidden == noHidden {
			callable[name] = f.fn
		}
	}
	callable["env"] = envFunc(getenv)
	return &hcl.EvalContext{Functions: callable}
}

func (l *loader) parse(names []string) {
	var bodies []*hclsyntax.Body
	for _, name := range names {
		body, diags := parseFile(l.files[name], name)
		l.diags = append(l.diags, diags...)
		bodies = append(bodies, body)
	}
	l.config.Files = names
	l.torn = len(l.diags) > 0
	l.readTop(bodies)
	for _, body := range bodies {
		for _, block := range body.Blocks {
			l.readAnyBlock(block)
		}
	}
	l.fillProcess()
	l.buildBackends()
	l.checkListens()
	l.buildRules()
	if len(l.config.Backends) == 0 && !l.diags.HasErrors() {
		at := hcl.Range{Filename: names[0], Start: hcl.InitialPos, End: hcl.InitialPos}
		l.fail(at, "no backend", `Nothing would be guarded. The least configuration is one block:
  backend "jira" {
    url    = "https://..."     # the ticket system
    listen = "127.0.0.1:8081"  # where the automation sends to instead
  }`)
	}
	if !l.diags.HasErrors() {
		l.warn()
	}
}

// readTop reads the attributes that stand outside of blocks.
func (l *loader) readTop(bodies []*hclsyntax.Body) {
	top := values{name: "the top level", set: map[string]value{}}
	for _, body := range bodies {
		read := l.readBlock("", "", top.name, body.SrcRange, body)
		for name, v := range read.set {
			if _, twice := top.set[name]; twice {
				l.fail(v.at, fmt.Sprintf("%s stands in two files", name), "One of them would be ignored.")
			}
			top.set[name] = v
		}
	}
	l.blocks[""] = top
}

// blockLabels are the kinds of blocks, and how many labels each has.
var blockLabels = map[string]int{
	"store": 1, "backend": 1, "rule": 1, "in_flight": 0, "limits": 0, "dead_letter": 0, "principals": 0, "envoy": 0,
}

func (l *loader) readAnyBlock(b *hclsyntax.Block) {
	labels, known := blockLabels[b.Type]
	if known {
		for _, inner := range b.Body.Blocks {
			l.failInner(b.Type, inner)
		}
	}
	switch {
	case !known:
		kinds := slices.Sorted(maps.Keys(blockLabels))
		l.fail(b.TypeRange, fmt.Sprintf("unknown block %q", b.Type), "A configuration has "+listed(kinds)+"."+nearest(b.Type, kinds))
	case len(b.Labels) < labels:
		l.fail(b.TypeRange, fmt.Sprintf("%s needs a name", b.Type), labelForm(b.Type))
	case len(b.Labels) > labels:
		l.fail(b.LabelRanges[labels], fmt.Sprintf("a name too many for %s", b.Type), labelForm(b.Type))
	case b.Type == "backend":
		l.readBackend(b)
	case b.Type == "rule":
		l.readRule(b)
	default:
		l.readOnce(b)
	}
}

// labelForm shows how a block of the kind is written.
func labelForm(kind string) string {
	switch {
	case kind == "store":
		return `Write store "sqlite" { ... }, store "redis" { ... } or store "postgres" { ... }.`
	case blockLabels[kind] == 0:
		return fmt.Sprintf("There is one of it: write %s { ... }.", kind)
	}
	return fmt.Sprintf(`Write %s "NAME" { ... }.`, kind)
}

// failInner: no block stands in another one.
func (l *loader) failInner(outer string, inner *hclsyntax.Block) {
	summary := fmt.Sprintf("unknown block %q in %s", inner.Type, outer)
	switch _, isBlock := blockLabels[inner.Type]; {
	case settingsOf(outer, "")[inner.Type] != nil && len(inner.Labels) == 0:
		l.fail(inner.TypeRange, summary, fmt.Sprintf("It is a setting, and takes an equals sign: %s = { ... }.", inner.Type))
	case isBlock:
		l.fail(inner.TypeRange, summary, fmt.Sprintf("No block stands in another one: close %s before %s begins.", outer, inner.Type))
	default:
		allowed := names(settingsOf(outer, ""))
		l.fail(inner.TypeRange, summary, "No block stands in another one. "+choices(outer+" can have the settings", allowed, nearest(inner.Type, allowed)))
	}
}

// readOnce reads a block of which there is one.
func (l *loader) readOnce(b *hclsyntax.Block) {
	if first, twice := l.blocks[b.Type]; twice {
		l.fail(b.DefRange(), b.Type+" stands twice", fmt.Sprintf("The first is at %s:%d.", first.at.Filename, first.at.Start.Line))
		return
	}
	name, label := b.Type, ""
	if b.Type == "store" {
		label = b.Labels[0]
		name = fmt.Sprintf("store %q", label)
		if !slices.Contains(stores, label) {
			l.fail(b.LabelRanges[0], fmt.Sprintf("unknown store %q", label), known("store", stores)+nearest(label, stores))
			return
		}
		l.config.Store.Kind = label
	}
	l.blocks[b.Type] = l.readBlock(b.Type, label, name, b.DefRange(), b.Body)
}

func (l *loader) readRule(b *hclsyntax.Block) {
	name := b.Labels[0]
	l.checkName(name, b.LabelRanges[0])
	twice := false
	for _, other := range l.rules {
		if other.name == name && !other.twice {
			l.fail(b.LabelRanges[0], fmt.Sprintf("rule %q stands twice", name), fmt.Sprintf("The first is at %s:%d.", other.at.Filename, other.at.Start.Line))
			twice = true
		}
	}
	l.rules = append(l.rules, ruleBlock{name, twice, l.readBlock("rule", "", fmt.Sprintf("rule %q", name), b.DefRange(), b.Body)})
}

// add takes over what HCL reports, in our words.
func (l *loader) add(diags hcl.Diagnostics) {
	for _, d := range diags {
		l.diags = append(l.diags, inOurWords(d))
	}
}

func (l *loader) fail(at hcl.Range, summary, detail string) {
	l.diags = append(l.diags, problem(at, summary, detail))
}
