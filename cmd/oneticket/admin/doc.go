// Package admin is the operator's side of a running oneticket: metrics,
// liveness and readiness on one local address.
package admin
