package dedup_test

import "testing"

// updated is how request 1 updates the ticket as far as the ticket system.
const updated = `q1 arrives, q1 claims, q1 swaps, q1 sends`

func TestUpdateUnknownAClearOfUnknownOutcomeLeavesADoubt(t *testing.T) {
	t.Parallel()
	story{
		on: "look", onClosed: accepts, requests: "a:A a:C",
		steps:  opened(0) + `, ` + updated + `, q1 times-out, q1 settles, q1 taken`,
		breaks: mutateUpdateUnknown, promise: "a success is true",
	}.holds(t)
}

func TestGoneATicketThatIsGoneIsNotReopenedForEver(t *testing.T) {
	t.Parallel()
	story{
		on: "look", onClosed: answersGone, reopens: true, requests: "a:A",
		steps:  opened(0) + `, T0 closed`,
		breaks: mutateGone, promise: "a client that retries gets its ticket",
	}.holds(t)
}

func TestUpdateLeaseAnUpdateWhoseHolderDiedIsTakenOver(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", requests: "a:A b:B",
		steps:  opened(0) + `, q1 arrives, q1 claims, q1 swaps, R0 dies`,
		breaks: mutateUpdateLease, promise: "a client that retries gets its ticket",
	}.holds(t)
}

func TestCloseIDTheCloseOfAnOldTicketDoesNotCloseTheNewOne(t *testing.T) {
	t.Parallel()
	story{
		on: "look", verifies: true, webhook: true, requests: "a:A b:A",
		steps: opened(0) + `, time, q1 arrives, q1 claims, T0 closed, q1 reads, q1 decides, q1 swaps, q1 claims, q1 sends, q1 taken,
			q1 answered, q1 settles, T0 webhook`,
		breaks: mutateCloseID, promise: "a close acts on its own ticket only",
	}.holds(t)
}

func TestUpdateSettleAnUpdateBesideAnEarlierOneLeavesTheSeverityUnknown(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", requests: "a:B b:A c:B",
		steps: opened(0) + `, ` + updated + `, q1 times-out, q1 settles,
			q2 arrives, q2 claims, q2 swaps, q2 sends, q2 taken, q1 taken, q2 answered, q2 settles`,
		breaks: mutateUpdateSettle, promise: "record and ticket agree at rest",
	}.holds(t)
}

// The answer may come when the earlier update can no longer land, and it may
// have landed in between all the same: what counts is when this one was sent.
func TestUpdateSettleCountsFromTheUpdatesBeginning(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", requests: "a:B b:A c:B",
		steps: opened(0) + `, ` + updated + `, q1 times-out, q1 settles, q2 arrives, q2 claims, q2 swaps, q2 sends, q2 taken,
			q1 taken, q2 answered, time, time, time, q2 settles`,
		breaks: mutateUpdateSettle, promise: "record and ticket agree at rest",
	}.holds(t)
}

func TestClearWaitNobodyIsToldSuccessWhileAClearRuns(t *testing.T) {
	t.Parallel()
	story{
		on: "look", onClosed: accepts, requests: "a:A a:C b:A",
		steps:  opened(0) + `, ` + updated + `, q1 taken, q2 arrives, q2 claims`,
		breaks: mutateClearWait, promise: "a success is true",
	}.holds(t)
}

func TestClearSettleATicketIsNotReadWhileAClearMayStillLand(t *testing.T) {
	t.Parallel()
	story{
		on: "look", onClosed: accepts, requests: "a:A a:C b:A",
		steps: opened(0) + `, ` + updated + `, q1 times-out, q1 settles, q2 arrives, q2 claims, q2 reads, q1 taken,
			q2 decides, q2 swaps, q2 claims, q2 swaps, q2 sends, q2 taken, q2 answered, q2 settles`,
		breaks: mutateClearSettle, promise: "a success is true",
	}.holds(t)
}

func TestUpdateRefusedATicketClosedByAPersonIsRead(t *testing.T) {
	t.Parallel()
	story{
		on: "look", requests: "a:A",
		steps:  opened(0) + `, T0 closed`,
		breaks: mutateUpdateRefused, promise: "a client that retries gets its ticket",
	}.holds(t)
}

func TestClearNoneAClearOpensNothing(t *testing.T) {
	t.Parallel()
	story{
		on: "look", requests: "a:C",
		steps:  `q0 arrives, q0 claims, q0 sends, q0 taken`,
		breaks: mutateClearNone, promise: "a clear never creates",
	}.holds(t)
}

func TestVerifyAfterACheckThatIsStillRunningIsNoCheck(t *testing.T) {
	t.Parallel()
	story{
		on: "look", verifies: true, requests: "a:A b:A c:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 taken, T0 closed, q0 answered, time, q0 settles, time,
			q1 arrives, q1 claims, q1 swaps, q2 arrives, q2 claims`,
		breaks: mutateVerifyAfter, promise: "a success is true",
	}.holds(t)
}

func TestUpdateOwnAnOutcomeIsWrittenOnlyOverItsOwnClaim(t *testing.T) {
	t.Parallel()
	story{
		on: "look", onClosed: accepts, webhook: true, requests: "a:A b:B",
		steps:  opened(0) + `, ` + updated + `, q1 taken, T0 closed, T0 webhook, q1 answered, q1 settles, q1 settles`,
		breaks: mutateUpdateOwn, promise: "a success is true",
	}.holds(t)
}

func TestUpdateClosedAnUpdateOfATicketClosedMeanwhileIsNoSuccess(t *testing.T) {
	t.Parallel()
	story{
		on: "look", onClosed: accepts, webhook: true, requests: "a:A b:B",
		steps:  opened(0) + `, T0 closed, ` + updated + `, q1 taken, T0 webhook, q1 answered, q1 settles, q1 settles`,
		breaks: mutateUpdateClosed, promise: "a success is true",
	}.holds(t)
}

func TestWaitEpisodeAClearThatWaitedDoesNotCloseTheNextTicket(t *testing.T) {
	t.Parallel()
	story{
		on: "look", webhook: true, requests: "a:A b:C c:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 taken, q1 arrives, q1 claims, q0 answered, q0 settles, T0 closed, T0 webhook,
			q2 arrives, q2 claims, q2 sends, q2 taken, q2 answered, q2 settles, q1 claims, q1 swaps, q1 sends, q1 taken`,
		breaks: mutateWaitEpisode, promise: "a clear closes its own episode",
	}.holds(t)
}
