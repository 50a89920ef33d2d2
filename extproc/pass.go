package extproc

import "oneticket/dedup"

// notOurs: nothing is counted, and nothing of it is seen again.
func (x *exchange) notOurs() reply {
	x.step = atEnd
	x.note = note{kind: dedup.Pass, reason: noMatch}
	return reply{note: x.note, rest: restNothing}
}

func (x *exchange) off(rule *Rule) reply {
	x.step = atEnd
	x.decided(rule, note{kind: dedup.Pass, reason: ruleOff})
	return reply{note: x.note, rest: restNothing}
}

// pass sends the request on untouched, and counts why.
func (x *exchange) pass(rule *Rule, why string) reply {
	x.server.o.Metrics.Unkeyed(rule.Name, why)
	return x.sendOn(rule, note{kind: dedup.Pass, reason: why})
}

// passAtHeader is pass where the bodies need not come.
func (x *exchange) passAtHeader(rule *Rule, why string) reply {
	r := x.pass(rule, why)
	if r.rest = restNothing; x.tell {
		r.rest = restHeader
	}
	return r
}

// sendOn lets the request go as it is.
func (x *exchange) sendOn(rule *Rule, n note) reply {
	x.decided(rule, n)
	x.step = atAnswer
	return reply{note: x.note}
}

func (x *exchange) reject(rule *Rule, unkeyed *dedup.Unkeyed) reply {
	x.server.o.Metrics.Unkeyed(rule.Name, unkeyed.Why)
	x.decided(rule, note{kind: rejectKind, reason: unkeyed.Why})
	return x.give(rejected(unkeyed.Field))
}
