package config

import (
	"fmt"
	"strings"
)

// Fields of requests that differ between two requests for one fault, in lower
// case, without "_" and "-".
var (
	freeTexts = words("shortdescription description desc subject summary title message msg text comment comments body content details detail notes worknotes reason output info")
	volatiles = words("timestamp time date datetime createdat createdon updatedat updatedon openedat starttime startedat starts endtime eventtime occurredat lastseen firstseen lastoccurrence syscreatedon sysupdatedon eventid eventnumber requestid messageid traceid uuid guid nonce count counter occurrences sequence seq")
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// partMakers are functions that take one part out of a text: who calls one
// has looked at what the text holds.
var partMakers = []string{"regex", "regexall", "replace", "substr", "split", "element", "trimprefix", "trimsuffix", "basename", "parseint", "jsondecode", "formatdate"}

// warnOfFields: a field of the identity that is another one in each request
// makes a ticket of each.
func (l *loader) warnOfFields(r readRule) {
	for i := range r.rule.identity {
		f := &r.rule.identity[i]
		if f.value.callsAny(partMakers) {
			continue
		}
		for _, p := range f.value.reads {
			name := p.last()
			switch plain := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)); {
			case freeTexts[plain]:
				l.diags = append(l.diags, warning(f.value.at, "a free text in the identity",
					fmt.Sprintf("Two requests for one fault seldom have the same %s, and each other one gets a ticket of its own. Take the field %s out; where the text holds what names the fault, take that part alone: regex(\"...\", %s).", name, f.name, p.String())))
			case volatiles[plain]:
				l.diags = append(l.diags, warning(f.value.at, "the identity changes with each request",
					fmt.Sprintf("Two requests for one fault do not have the same %s, and each gets a ticket of its own. Take the field %s out, and name what says which element has which fault.", name, f.name)))
			default:
				continue
			}
			break
		}
	}
}

func (e *expression) callsAny(names []string) bool {
	for _, name := range names {
		if e.calls[name] {
			return true
		}
	}
	return false
}

// last is the last name of the place, or "".
func (p *place) last() string {
	for i := len(p.steps) - 1; i >= 0; i-- {
		if !p.steps[i].item {
			return p.steps[i].name
		}
	}
	return ""
}
