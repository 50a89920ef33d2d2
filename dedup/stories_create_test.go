package dedup_test

import "testing"

func TestLandASecondCreateDoesNotLeaveBeforeSettle(t *testing.T) {
	t.Parallel()
	story{
		on: "look", requests: "a:A a:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 times-out, q0 settles,
			q1 arrives, q1 claims, q1 swaps, q1 looks-up, q1 decides, q1 swaps, q1 sends, q0 taken, q1 taken`,
		breaks: mutateLand, promise: "no second ticket",
	}.holds(t)
}

func TestFoundClosedALookUpThatFindsAClosedTicketIsNoSuccess(t *testing.T) {
	t.Parallel()
	story{
		on: "look", webhook: true, requests: "a:A",
		steps:  `q0 arrives, q0 claims, q0 sends, q0 taken, q0 loses-its-answer, q0 settles, T0 closed, T0 webhook`,
		breaks: mutateFoundClosed, promise: "a success is true",
	}.holds(t)
}

func TestFingerprintSentARecoveredTicketKeepsTheSeverityThatWasSent(t *testing.T) {
	t.Parallel()
	story{
		on: "look", requests: "a:A",
		steps:  `q0 arrives, q0 claims, q0 sends, q0 times-out, q0 settles, q0 taken`,
		breaks: mutateFingerprintSent, promise: "a fingerprint was applied",
	}.holds(t)
}

func TestTombACloseThatCameBeforeTheAnswerIsMet(t *testing.T) {
	t.Parallel()
	story{
		on: "look", webhook: true, requests: "a:A",
		steps:  `q0 arrives, q0 claims, q0 sends, q0 taken, T0 closed, T0 webhook, q0 answered, q0 settles`,
		breaks: func(r *rules) { r.keepClose = false }, promise: "a success is true",
	}.holds(t)
}

func TestLookUpFailACallerWithoutTheRightToLookGetsATicketInTheEnd(t *testing.T) {
	t.Parallel()
	story{
		on: "look+noright", requests: "a:A",
		steps:  `q0 arrives, q0 claims, q0 sends, q0 taken, q0 loses-its-answer, q0 settles`,
		breaks: mutateLookUpFail, promise: "a client that retries gets its ticket",
	}.holds(t)
}

func TestFenceAHolderWhoseLeaseIsOverDoesNotSend(t *testing.T) {
	t.Parallel()
	story{
		on: "look", requests: "a:A b:A c:A",
		steps: `q0 arrives, q0 claims, time, q1 arrives, q1 claims, q1 swaps, q1 looks-up, q1 decides, q1 swaps, time, q0 sends,
			q2 arrives, q2 claims, q2 swaps, q2 looks-up, q2 decides, q2 swaps, q0 taken, q2 sends, q2 taken`,
		breaks: func(r *rules) { r.ready = func(int, int, int) bool { return true } }, promise: "no second ticket",
	}.holds(t)
}

func TestHolderALateRefusalDoesNotReleaseAnothersClaim(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", requests: "a:A b:A c:A d:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 refused, q0 answered, time, q1 arrives, q1 claims, q1 swaps, time,
			q2 arrives, q2 claims, q2 swaps, q2 sends, q0 settles, q0 settles,
			q3 arrives, q3 claims, q3 sends, q2 taken, q3 taken`,
		breaks: mutateHolder, promise: "no second ticket",
	}.holds(t)
}

func TestRestoreARefusedCreateOfTheNextEpisodeKeepsTheNumber(t *testing.T) {
	t.Parallel()
	story{
		on: "remembers", requests: "a:A a:C a:A",
		steps: opened(0) + `, q1 arrives, q1 claims, q1 swaps, q1 sends, q1 taken, q1 answered, q1 settles,
			q2 arrives, q2 claims, q2 sends, q2 refused, q2 answered, q2 settles`,
		breaks: mutateRestore, promise: "the episode never goes back",
	}.holds(t)
}

func TestStoreEpisodeTheNextEpisodeHasATokenOfItsOwn(t *testing.T) {
	t.Parallel()
	story{
		on: "remembers", requests: "a:A a:C",
		steps:  opened(0) + `, q1 arrives, q1 claims, q1 swaps, q1 sends, q1 taken, q1 answered, q1 settles`,
		breaks: mutateStoreEpisode, promise: "a success is true",
	}.holds(t)
}

func TestTokenNextARememberedTicketThatIsClosedIsNoSuccess(t *testing.T) {
	t.Parallel()
	story{
		on: "remembers", webhook: true, requests: "a:A",
		steps:  `q0 arrives, q0 claims, q0 sends, q0 taken, q0 loses-its-answer, q0 settles, T0 closed, T0 webhook`,
		breaks: mutateTokenNext, promise: "a success is true",
	}.holds(t)
}

func TestLateAdoptAnAnswerThatComesLateIsNotThrownAway(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", requests: "a:A b:A c:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 taken, q0 answered, time, q1 arrives, q1 claims, q1 swaps, time,
			q2 arrives-at-R1, q2 claims, q2 swaps, q0 settles, q0 settles, R1 dies`,
		breaks: mutateLateAdopt, promise: "no second ticket",
	}.holds(t)
}

func TestDuplicateReportASecondTicketIsReported(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", requests: "a:A b:A c:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 taken, q0 answered, time, q1 arrives, q1 claims, q1 swaps, time,
			q2 arrives, q2 claims, q2 swaps, q2 sends, q2 taken, q2 answered, q2 settles, q0 settles, q0 settles`,
		breaks: mutateDuplicateReport, promise: "every double is reported",
	}.holds(t)
}

func TestKeepDoubtAnOpenRecordKeepsTheSendThatHasNoOutcome(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", webhook: true, requests: "a:A b:A c:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 taken, q0 answered, time, q1 arrives, q1 claims, q1 swaps, time,
			q2 arrives, q2 claims, q2 swaps, q2 sends, q0 settles, q0 settles, T0 closed, q2 taken, q2 loses-its-answer, q2 settles, T0 webhook`,
		breaks: mutateKeepDoubt, promise: "no second ticket",
	}.holds(t)
}

func TestDoubtLiveACreateOfUnknownOutcomeDoesNotExpire(t *testing.T) {
	t.Parallel()
	story{
		on: "look", requests: "a:A b:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 times-out, q0 settles,
			q1 arrives, q1 claims, q1 swaps, q1 sends, q1 taken, q0 taken`,
		breaks: mutateDoubtLive, promise: "no second ticket",
	}.holds(t)
}

func TestOwnStepAClaimMadeForALookUpDoesNotCreate(t *testing.T) {
	t.Parallel()
	story{
		on: "look", requests: "a:A b:A",
		steps: `q0 arrives, q0 claims, q0 sends, q0 times-out, q0 settles, q0 taken,
			q1 arrives, q1 claims, q1 loses-the-store's-reply, q1 swaps, q1 claims, q1 sends, q1 taken`,
		breaks: mutateOwnStep, promise: "no second ticket",
	}.holds(t)
}

func TestSwapOwnAWriteWhoseReplyWasLostIsNotAnothers(t *testing.T) {
	t.Parallel()
	story{
		on: "nothing", requests: "a:A",
		steps:  `q0 arrives, q0 claims, q0 sends, q0 taken, q0 answered, q0 loses-the-store's-reply, q0 settles, q0 settles`,
		breaks: mutateSwapOwn, promise: "every double is reported",
	}.holds(t)
}

func TestFoldPlainABackendThatFoldsGetsThePlainKeyInEveryEpisode(t *testing.T) {
	t.Parallel()
	story{
		on: "folds", expires: true, requests: "a:A b:A",
		steps:  opened(0) + `, time, time, time, q1 arrives, q1 claims, q1 sends, q1 taken`,
		breaks: mutateFoldPlain, promise: "no second ticket",
	}.holds(t)
}

func TestFoldFingerprintAnAnswerThatFoldedIntoAnOlderTicketTellsNoSeverity(t *testing.T) {
	t.Parallel()
	story{
		on: "folds", expires: true, requests: "a:A b:B",
		steps:  opened(0) + `, time, time, time, q1 arrives, q1 claims, q1 sends, q1 taken, q1 answered, q1 settles`,
		breaks: mutateFoldFingerprint, promise: "a fingerprint was applied",
	}.holds(t)
}
