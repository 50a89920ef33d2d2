// Package extproc is the filter's side of Envoy's external-processing stream.
//
// A Server answers the streams; an exchange is one HTTP request and its answer
// as plain Go: it reads values and returns a reply, and knows no message of the
// protocol. Messages are made and read in message.go, what is known of an
// exchange's end is judged in outcome.go, and what of an answer may be given
// again is chosen in replay.go; to whom, in principal.go and join.go. What the
// stream cannot see of an exchange's end, the proxy's access log tells
// (accesslog.go). Whether a request creates, and what becomes of the record, is
// package dedup's to say.
//
// What the filter asks a backend itself (look-ups, reads, updates, a create
// that is sent again) goes through a Caller, and is asked by the desk of the
// exchange, with the credentials of its request. While a message of the proxy
// waits for such a call, its stay says for how long. A create that has failed is
// kept as a Letter, healed while its client waits (heal.go), and followed up
// beside the requests (follow.go); the desk, and with it the request and its
// credentials, lives no longer than that, and in memory only. One that was
// refused because of our token in a field of the backend's own is sent once more
// without it (bare.go), and the FieldSwitch goes off.
//
// A request that is no create may close tickets (resolve.go). Doubles are closed
// or linked on nobody's behalf, by a MergeDesk with the credentials of the
// configuration.
package extproc
