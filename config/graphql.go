package config

import "slices"

// graphqlOperation reads a document of GraphQL as far as it must be read to say
// of the operation with the name (the only one, if it is "") of what kind it is
// and which fields it asks of the root: by their own names, in order, those in
// fragments included, a field that stands twice twice.
func graphqlOperation(document, name string) (kind string, fields []string, ok bool) {
	p := graphqlParser{graphqlLexer: graphqlLexer{text: document}, fragments: map[string][]graphqlSelection{}}
	if !p.document() {
		return "", nil, false
	}
	var found *graphqlDefinition
	for i := range p.operations {
		if name == "" || p.operations[i].name == name {
			if found != nil {
				return "", nil, false
			}
			found = &p.operations[i]
		}
	}
	if found == nil {
		return "", nil, false
	}
	if fields, ok = p.flatten(nil, found.selections, nil); !ok {
		return "", nil, false
	}
	return found.kind, fields, true
}

const (
	maxGraphQLDepth  = 64   // of fragments in each other
	maxGraphQLFields = 1000 // of the root
)

type graphqlDefinition struct {
	kind, name string
	selections []graphqlSelection
}

// A graphqlSelection is a field, a fragment by its name, or one that is
// written out.
type graphqlSelection struct {
	field, spread string
	inline        []graphqlSelection
}

// A graphqlParser reads definitions. Each method that reports false has met
// what is no GraphQL.
type graphqlParser struct {
	graphqlLexer
	operations []graphqlDefinition
	fragments  map[string][]graphqlSelection
}

func (p *graphqlParser) document() bool {
	p.next()
	for p.token != graphqlEnd {
		if !p.definition() {
			return false
		}
	}
	return true
}

func (p *graphqlParser) definition() bool {
	d := graphqlDefinition{kind: "query"}
	if p.token == graphqlWord {
		d.kind = p.value
		p.next()
	}
	if d.kind == "fragment" {
		return p.fragment()
	}
	if !slices.Contains([]string{"query", "mutation", "subscription"}, d.kind) {
		return false
	}
	if p.token == graphqlWord {
		d.name = p.value
		p.next()
	}
	var ok bool
	if !p.group('(') || !p.directives() {
		return false
	}
	d.selections, ok = p.selections(0)
	p.operations = append(p.operations, d)
	return ok
}

func (p *graphqlParser) fragment() bool {
	name := p.value
	if p.token != graphqlWord || name == "on" || p.fragments[name] != nil {
		return false
	}
	p.next()
	if !p.typeCondition() || !p.directives() {
		return false
	}
	selections, ok := p.selections(0)
	p.fragments[name] = selections
	return ok
}

func (p *graphqlParser) typeCondition() bool {
	if p.token != graphqlWord || p.value != "on" {
		return false
	}
	p.next()
	return p.name()
}

func (p *graphqlParser) name() bool {
	was := p.token
	p.next()
	return was == graphqlWord
}

func (p *graphqlParser) directives() bool {
	for p.token == '@' {
		p.next()
		if !p.name() || !p.group('(') {
			return false
		}
	}
	return true
}

// group passes over what stands in brackets, if the one is next.
func (p *graphqlParser) group(opening graphqlToken) bool {
	if p.token != opening {
		return true
	}
	var closing []graphqlToken
	for {
		switch p.token {
		case '(':
			closing = append(closing, ')')
		case '[':
			closing = append(closing, ']')
		case '{':
			closing = append(closing, '}')
		case ')', ']', '}':
			if p.token != closing[len(closing)-1] {
				return false
			}
			closing = closing[:len(closing)-1]
		case graphqlEnd, graphqlBad:
			return false
		}
		p.next()
		if len(closing) == 0 {
			return true
		}
	}
}

// selections reads a set of selections of the root.
func (p *graphqlParser) selections(depth int) ([]graphqlSelection, bool) {
	if p.token != '{' || depth > maxGraphQLDepth {
		return nil, false
	}
	p.next()
	var all []graphqlSelection
	for p.token != '}' {
		read := p.field
		if p.token == graphqlSpread {
			read = func() (graphqlSelection, bool) { return p.spread(depth) }
		}
		one, ok := read()
		if !ok || len(all) == maxGraphQLFields {
			return nil, false
		}
		all = append(all, one)
	}
	p.next()
	return all, len(all) > 0
}

// field reads a field, without its alias and with what is asked of it.
func (p *graphqlParser) field() (graphqlSelection, bool) {
	s := graphqlSelection{field: p.value}
	if !p.name() {
		return s, false
	}
	if p.token == ':' {
		p.next()
		s.field = p.value
		if !p.name() {
			return s, false
		}
	}
	return s, p.group('(') && p.directives() && p.group('{')
}

func (p *graphqlParser) spread(depth int) (s graphqlSelection, ok bool) {
	p.next()
	if p.token == graphqlWord && p.value != "on" {
		s.spread = p.value
		p.next()
		return s, p.directives()
	}
	if p.token == graphqlWord && !p.typeCondition() || !p.directives() {
		return s, false
	}
	s.inline, ok = p.selections(depth + 1)
	return s, ok
}

// flatten appends the fields of selections. open are the fragments around: one
// in itself is no GraphQL.
func (p *graphqlParser) flatten(to []string, from []graphqlSelection, open []string) ([]string, bool) {
	for _, s := range from {
		inner, around := s.inline, open
		switch {
		case s.field != "":
			to = append(to, s.field)
		case s.spread != "":
			inner, around = p.fragments[s.spread], append(slices.Clone(open), s.spread)
			if inner == nil || slices.Contains(open, s.spread) || len(around) > maxGraphQLDepth {
				return nil, false
			}
		}
		if len(to) > maxGraphQLFields {
			return nil, false
		}
		var ok bool
		if to, ok = p.flatten(to, inner, around); !ok {
			return nil, false
		}
	}
	return to, true
}
