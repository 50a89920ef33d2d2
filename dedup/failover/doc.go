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
// A store of several parts is away when one of them is: after a call that has
// failed, each part is asked for a write beside the requests, and where that
// fails as often the breaker opens too. So no request waits for the part that is
// frozen, and the store is not back before all of it is.
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
// # What the shared store loses
//
// A server that takes over may lack the last writes that the dead one has
// acknowledged, and no call says so. So after a call that has failed, and when
// somebody doubts it (Store.Doubt), what this process has seen of records in the last ten minutes (4096 of them at most) is
// read once more, the newest first. A version that has gone back, or another
// ticket in the same episode, is a loss: what the mirror knows becomes an own
// record, and is reconciled as if it were of an outage. It is taken over again,
// or, where another replica has opened a ticket since, reported as a double. A
// claim that was won because of a loss is taken back. What a process knew that
// has died meanwhile is not compared.
//
// When the embedded store fails too, a call returns both errors.
package failover
