// Package history records what concurrent clients ask of a store and what they
// are told, and checks that all of it could have come from calls made one
// after another: that the store is linearizable, also while it is killed and
// frozen.
//
// A call that fails has an unknown outcome: it may be applied at any later
// time, or never. Such a call stays open to the end of the history.
//
// The check judges single calls. A client library that sends a call again by
// itself makes two of it, of which the first may be applied and the second be
// told of a conflict with what somebody wrote in between; that is allowed to
// a store, and this check would refuse it: switch such repetitions off here.
// The clients make their own, as calls of their own.
package history
