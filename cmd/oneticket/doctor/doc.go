// Package doctor finds out whether an Envoy that somebody else runs does what
// the filter relies on.
//
// It takes the filter's place on its socket, and the ticket system's place on
// an address of its own; then it sends marked requests through the Envoy. What
// the Envoy does with a request whose answer it knows, a filter that holds,
// fails or asks for more time, and a backend that fails tells how the Envoy is
// configured: there is no other way to see all of it. Requests without a mark
// pass untouched.
package doctor
