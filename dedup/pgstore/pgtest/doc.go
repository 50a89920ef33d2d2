// Package pgtest runs PostgreSQL servers for tests: each with a cluster of its
// own in a temporary folder, on a free port of the loopback address and a
// socket. Debian's postgresql package is enough, and nothing of it has to run.
//
// Durability is switched off: the servers' processes die here, machines do not.
package pgtest
