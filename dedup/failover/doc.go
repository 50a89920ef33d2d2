// Package failover keeps records in a shared store, and in an embedded one
// while the shared one is out of reach: under uncertainty a duplicate is better
// than a silent gap, so creates go on, are recorded, and are reconciled when the
// shared store is back.
//
// # Who decides
//
// Every call to the shared store goes through a circuit breaker with a short
// deadline of its own. A call that fails, or comes too late, is made on the
// embedded store at once; after a few such calls in a row the breaker is open
// and the shared store is not asked at all, until a probe beside the requests
// has seen it take a write. A client's request is never that probe.
//
// What the embedded store answers is marked (dedup.Found.Provisional), and its
// versions are numbers of their own, so that a Swap always reaches the store
// whose record it was decided on. The creates that it decides are provisional.
//
// A key that the embedded store has a record of stays with it, also when the
// shared one is back, until that record is reconciled: so no request meets half
// of what happened.
//
// # What the embedded store keeps
//
// All of it is in records of the one dedup.Store, under names of its own, and
// survives a restart. Several replicas of one machine may share its file.
//
//	own      what was decided here: to be reconciled
//	mirror   what this replica knows of settled shared records: read while the
//	         shared store is away, written off the path from a bounded queue
//	journal  outcomes that the shared record could not take
//	close    tickets that were closed meanwhile
//	ticket   tickets of which the shared store does not know the record yet
//	done     what came of it, for `oneticket reconcile`: bounded
//
// # The return
//
// In this order: kept closes; the journal; then each own record by
// dedup.Reconcile. Each step is one call of a store, and done again from
// anywhere it says the same: whoever dies in between leaves nothing half done.
// What is reported is kept before the record goes, under a name that the same
// report has again.
//
// When the embedded store fails too, a call returns both errors.
package failover
