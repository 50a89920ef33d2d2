package deadletter

import "oneticket/dedup"

// Standing is what the record of a letter's key says of the letter.
type Standing string

const (
	// Alive: the record is still in the letter's episode, or just before it,
	// and has no ticket: the letter may be sent.
	Alive Standing = "alive"

	// Running: somebody is creating under this key; ask again later.
	Running Standing = "running"

	// Over: the episode has a ticket or is closed, or a later one has come.
	// The letter is not needed any more.
	Over Standing = "over"

	// Unclear: the record does not say enough to send the letter without the
	// risk of a second ticket: its memory is over or was lost, it was released
	// by hand, a clear of unknown outcome came, or an older ticket is open. The
	// letter stays, for a person to look at.
	Unclear Standing = "unclear"
)

// StandingOf says what the record that was found under a letter's key means
// for a letter of the episode. doubt is Letter.Doubt, of any letter of the key
// and episode: what may have become a ticket is only sent again while the
// record still knows of the attempt, and so can look it up.
//
// A refusal and a create that was never sent take their claim back, so the
// record is then as it was before, in the episode before, and the next claim
// gives the letter's own number again.
func StandingOf(found dedup.Found, episode int64, doubt bool) Standing {
	rec := found.Record
	state := rec.State
	if state == "" || rec.Observed {
		state = dedup.None
	}
	free := !found.Now.Before(rec.FreeAt)
	switch {
	case rec.V > dedup.Format:
		return Unclear
	case state == dedup.Claimed && found.Now.Before(rec.LeaseUntil):
		return Running
	case rec.Episode > episode:
		return Over
	case rec.Episode == episode:
		return inEpisode(rec, state, free)
	case rec.Episode == episode-1 && !doubt && before(state, free):
		return Alive
	default:
		return Unclear
	}
}

func inEpisode(rec dedup.Record, state dedup.State, free bool) Standing {
	switch {
	case state == dedup.Open, state == dedup.Closed && !rec.InDoubt:
		return Over
	case state == dedup.Doubtful && !free, state == dedup.Claimed && !free:
		return Alive
	default:
		return Unclear
	}
}

// before reports whether a record of the episode before lets the next claim
// create.
func before(state dedup.State, free bool) bool {
	return state == dedup.None || state == dedup.Closed || free
}
