package extproc

import (
	"context"
	"strconv"
	"strings"

	"oneticket/dedup"
)

// replayHeader marks a dead letter on its way, as "EPISODE;ID". It is believed
// only beside the mark of this process.
const replayHeader = "oneticket-replay"

// A replaying is a request that is a dead letter: it may go out only as what it
// was, the create of its episode.
type replaying struct {
	id      string
	episode int64
}

// ownCall lets a call of ours pass by, without its mark.
func (x *exchange) ownCall() reply {
	x.step = atEnd
	_, x.exchange, _ = strings.Cut(x.head.value(callHeader), ";")
	x.note = note{kind: dedup.Pass, reason: ownCall}
	return reply{note: x.note, rest: restNothing, remove: []string{callHeader}}
}

// replays reports whether the request is a dead letter. Its marks are taken off.
func (x *exchange) replays(e *event) bool {
	value := e.head.value(replayHeader)
	if value == "" || !x.server.o.Calls.own(&e.head) {
		return false
	}
	number, id, _ := strings.Cut(value, ";")
	episode, err := strconv.ParseInt(number, 10, 64)
	if err != nil || episode <= 0 || id == "" {
		episode = 0 // of no claim
	}
	x.replaying = &replaying{id: id, episode: episode}
	e.head.fields = kept(e.head.fields, func(name string) bool { return name != callHeader && name != replayHeader })
	return true
}

// replay takes the header of a dead letter.
func (x *exchange) replay(e event) reply {
	r := x.onRequest(e)
	if x.step != atBody || x.resolving != nil {
		return x.refuseReplay(x.rule, "")
	}
	r.remove = append(r.remove, callHeader, replayHeader)
	return r
}

// guarded keeps a dead letter from going out undecided.
func (x *exchange) guarded(r reply) reply {
	if x.replaying == nil || r.answer != nil || x.hold != nil && x.rule.Action == Enforce {
		return r
	}
	return x.refuseReplay(x.rule, x.note.key)
}

// replayable reports whether the letter is one of this record, and still to be
// sent.
func (x *exchange) replayable(ctx context.Context, fault dedup.Fault) bool {
	return x.server.o.Letters != nil && x.rule.Action == Enforce &&
		x.server.o.Letters.Replayable(ctx, x.replaying.id, fault.Ref, x.replaying.episode)
}

// outdated: the claim that was won, if one was, is of another episode.
func (x *exchange) outdated(ctx context.Context, rule *Rule, fault dedup.Fault, v dedup.Verdict) reply {
	if x.hold = v.Hold; x.hold != nil {
		x.release(ctx)
	}
	return x.refuseReplay(rule, fault.Ref.Key)
}

func (x *exchange) refuseReplay(rule *Rule, key dedup.Key) reply {
	n := note{kind: dedup.Pass, reason: replayed, key: key}
	if rule != nil {
		x.decided(rule, n)
	} else {
		x.note = n
	}
	return x.give(outdated(key))
}
