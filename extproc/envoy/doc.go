// Package envoy makes Envoy's configuration and runs Envoy.
//
// Bootstrap turns a Spec into a whole configuration: one listener for each
// backend, which stands in for it, and the filter on the routes that may open
// tickets. DynamicBootstrap makes one that asks a Control for these, which can
// change them while Envoy runs. Find, Version and Validate deal with the
// binary; Child is a running Envoy, and BypassTail reads what it logs of
// creates that passed unguarded.
//
// # What a listener does to a request
//
// As little as Envoy can be made to. HTTP/1.0 is accepted, the case of header
// names and the reason phrase stay, paths are not normalised, and neither
// server, x-envoy-*, x-forwarded-* nor x-request-id is added. The Host becomes
// the backend's. What cannot be avoided:
//
//   - an answer without a Date gets one (a Date of the backend's stays);
//   - x-forwarded-proto is taken off, the client's own too: Envoy always adds
//     one, and "http" in front of an https backend makes some redirect;
//   - x-envoy-* of a client is taken off, since it could ask for retries that
//     open a second ticket;
//   - hop-by-hop headers end here, and an Upgrade to anything but websocket is
//     ignored;
//   - headers of Envoy's own answers, and of answers that the filter gives,
//     are in lower case.
//
// # Which requests meet the filter
//
// A route whose name starts with "guarded" matches a backend's methods, and
// the filter is on for these alone; all other traffic opens no stream.
// Upgrades have a filter chain of their own without it.
package envoy
