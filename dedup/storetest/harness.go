package storetest

import (
	"context"
	"testing"
	"time"

	"oneticket/dedup"
)

// A Harness makes what a store keeps.
type Harness struct {
	// New makes empty data that nobody else uses. It cleans up by t.Cleanup.
	New func(t testing.TB) Data
}

// Data is what one store keeps, and how to reach it.
type Data struct {
	// Client opens one more client on the data, as another process would, and
	// closes it by t.Cleanup.
	Client func(t testing.TB) dedup.Store

	// Forward moves the clock of the data, as all clients see it. It is only
	// called while no call runs.
	Forward func(d time.Duration)

	// Stall keeps the data from answering writes until release is called. Nil
	// where that cannot be done.
	Stall func(t testing.TB) (release func())
}

// Run tells every story to fresh data of the harness.
func Run(t *testing.T, h Harness) {
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) { story.tell(newScene(t, h)) })
	}
}

// A story is one thing that must hold, in the words of the incident that
// happens where it does not.
type story struct {
	name string
	tell func(*scene)
}

var stories = []story{
	{"of many claims at once exactly one wins", raceForOneKey},
	{"of many claims of an expired record exactly one wins", raceForAnExpiredRecord},
	{"the first claim writes what was offered", firstClaim},
	{"a claim without an offer only reads", claimWithoutOffer},
	{"a free record begins the next episode and keeps what was there", nextEpisode},
	{"only what is there now is kept as prior", priorOfPrior},
	{"a record outlives the longer of two keeps", longerKeep},
	{"the token follows its rule", tokens},
	{"a refused create leaves a stub with its number", refusedCreate},
	{"a refused next episode restores the one before", refusedNextEpisode},
	{"a late holder is refused", lateHolder},
	{"a claim repeated after a lost reply has won", ownClaimRepeated},
	{"a claim repeated after its lease has not won", ownClaimRepeatedTooLate},
	{"a swap repeated after a lost reply has succeeded", ownSwapRepeated},
	{"a swap repeated after somebody else wrote is refused", ownSwapWrittenOver},
	{"a swap of another version is refused", swapOfAnotherVersion},
	{"a write between read and swap is not lost", competingWrite},
	{"a ticket holds its key until its time is over", expiry},
	{"a record that is free at once is taken at once", freeAtOnce},
	{"each re-fire prolongs the life of the ticket", slidingLife},
	{"a storm of re-fires is not a storm of writes", littleGain},
	{"no re-fire prolongs a life beyond its greatest age", greatestAge},
	{"another fingerprint prolongs nothing", otherFingerprint},
	{"the unknown fingerprint equals none", unknownFingerprint},
	{"a running update claim keeps the life as it is", runningUpdate},
	{"a stored response is given back byte for byte", replay},
	{"no response, no body and an empty body are three things", emptyBodies},
	{"every field of a record is kept", everyField},
	{"keys are kept apart by rule and by scope", apart},
	{"a renewal moves a running lease and no version", renewal},
	{"nobody renews what is not his or is over", renewalRefused},
	{"an update claim is renewed too", updateRenewal},
	{"only the holder marks the create as sent", markSent},
	{"what is deleted keeps its number", deleted},
	{"a close before its ticket is told to the ticket", closeBeforeTicket},
	{"a close after its ticket is told whose it is", closeAfterTicket},
	{"of a close and its ticket at once one side learns", closeAndTicketAtOnce},
	{"a kept close and a ticket end with their time", ticketsEnd},
	{"a list shows every record, also beyond one batch", list},
	{"a list ends when it is told to", listEnds},
	{"the clock is the store's own", clock},
	{"a record of a newer format is left alone", newerFormat},
	{"a call that failed is repeated and then has happened once", repeatedAfterFailure},
	{"a call whose context is over fails", contextOver},
	{"a store that does not answer fails in time", stalled},
	{"random calls do what the reference store does", random},
}

// A scene is fresh data with two clients on it.
type scene struct {
	testing.TB
	ctx      context.Context
	one, two dedup.Store
	data     Data
}

func newScene(t testing.TB, h Harness) *scene {
	data := h.New(t)
	return &scene{TB: t, ctx: t.Context(), one: data.Client(t), two: data.Client(t), data: data}
}
