// Package deadletter keeps the creates that have not become a ticket: never
// sent, refused for now, or of unknown outcome. A letter stays until an attempt
// of its key and episode becomes a ticket, and can be replayed until then.
//
// # The file
//
// A Box is one SQLite file in WAL mode, of one process. A plain file that is
// only appended to would be written as fast; but letters go again in any order
// and must be found by key and episode, so it would need an index, a
// compaction that copies up to max_bytes, and rules for a tail that a crash
// has cut. SQLite has all that, checks every frame of its log by a checksum,
// and reuses the room of what is gone.
//
// # What survives
//
// Put returns when the letter is in the operating system's hands: the death of
// the process, kill -9 included, loses nothing, and the write takes tens of
// microseconds, so the path of a request may wait for it before the client is
// told of the failure. The keeper brings what was put to the disk by an fsync
// at most Options.SyncEvery (100 ms) later, one for all letters of that time,
// through a descriptor of its own: nobody waits for it. So the death of the
// machine loses what it had put in its last tenth of a second; those clients
// were told of a failure too, and the fault fires again. An fsync inside Put
// would close that gap for milliseconds in each failing request, and the storm
// of failures in which it matters would queue behind it.
//
// # Bounds
//
// Letters are dropped when nothing else helps, and loudly (Options.OnDrop):
// first those over max_age, then the oldest while there are more than
// max_count or they are larger than max_bytes. The same body under one key and
// episode is one letter, and bodies that differ are four at most, the newest:
// they are one fault and become one ticket. So a sender that repeats itself
// cannot push other faults out.
//
// # Secrets
//
// No credential is kept: headers by an allow list (Harmless), parameters of
// the query by their names, and what a rule names (Secrets); see Clean. A
// replay takes credentials from the configuration.
//
// # Replay
//
// A Replayer sends a letter to the address that stands in for its backend, so
// that it is claimed, sent and settled as every request is. It carries
//
//	oneticket-replay: EPISODE;ID
//
// beside the mark of this process. The filter believes that header only with
// the mark, takes both off before anything is sent on, and then
//
//   - refuses the request (409) where the rule is not enforced, the letter's
//     key is not the key of the request, or StandingOf the record is neither
//     Alive nor Running;
//   - lets it go only if the claim that it wins is of the letter's episode;
//     a claim of another one is released, as never sent, and refused (409);
//   - never passes it on undecided.
//
// The replayer does not trust the answer for more than its Retry-After: what
// became of the letter is read from the record. An answer without
// Oneticket-Decision did not come through the filter; it ends the replay, and
// is logged as an error.
package deadletter
