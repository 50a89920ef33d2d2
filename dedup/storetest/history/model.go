package history

import (
	"slices"

	"github.com/anishathalye/porcupine"

	"oneticket/dedup"
)

// model is one record, as dedup.Store describes it.
var model = porcupine.Model{
	Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[int][]porcupine.Operation{}
		for _, o := range all {
			key := o.Input.(call).key
			byKey[key] = append(byKey[key], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		slices.SortFunc(parts, func(a, b []porcupine.Operation) int { return a[0].Input.(call).key - b[0].Input.(call).key })
		return parts
	},
	Init: func() any { return state{} },
	Step: func(was, input, output any) (bool, any) {
		s, c, a := was.(state), input.(call), output.(answer)
		told, next := s.apply(c)
		if a.unknown || a == told {
			return true, next
		}
		return false, s
	},
	DescribeOperation: func(input, output any) string { return input.(call).String() + " -> " + output.(answer).String() },
	DescribeState:     func(s any) string { return s.(state).String() },
}

// apply is what a call must be told, and what it leaves.
func (s state) apply(c call) (answer, state) {
	switch c.op {
	case claim:
		return s.claim(c.holder)
	case swap:
		return s.swap(c)
	case renew:
		return answer{yes: s.is == dedup.Claimed && s.holder == c.holder}, s
	case remove:
		return answer{yes: true}, s.remove()
	default:
		return answer{yes: true, record: s.shown()}, s
	}
}

// shown is what a client sees of it.
func (s state) shown() state {
	s.nonce = ""
	return s
}

func (s state) claim(holder string) (answer, state) {
	switch {
	case s.is == dedup.Claimed && s.holder == holder:
		return answer{yes: true, record: s.shown()}, s
	case s.version != 0 && !s.free:
		return answer{record: s.shown()}, s
	}
	next := state{version: s.version + 1, episode: s.episode + 1, is: dedup.Claimed, holder: holder}
	return answer{yes: true, record: next}, next
}

func (s state) swap(c call) (answer, state) {
	if s.version == c.seen {
		next := c.next
		next.version, next.nonce = c.seen+1, c.nonce
		return answer{yes: true}, next
	}
	return answer{yes: s.version == c.seen+1 && s.nonce == c.nonce}, s
}

func (s state) remove() state {
	if s.version == 0 || (s.is == dedup.None && s.free) {
		return s
	}
	return state{version: s.version + 1, episode: s.episode, is: dedup.None, free: true}
}
