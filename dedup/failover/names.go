package failover

import (
	"strings"

	"oneticket/dedup"
)

// The names under which the embedded store keeps what.
const (
	ownName     = "own"
	mirrorName  = "mirror"
	journalName = "journal"
	closeName   = "close"
	ticketName  = "ticket"
	doneName    = "done"
)

// between stands between the parts of a name; no rule and no host has it.
const between = "\x1f"

// named is where the embedded store keeps a record of the ref.
func named(name string, ref dedup.Ref) dedup.Ref {
	return dedup.Ref{Rule: name, Scope: ref.Rule + between + ref.Scope, Key: ref.Key}
}

// refOf is the inverse of named.
func refOf(in dedup.Ref) dedup.Ref {
	rule, scope, _ := strings.Cut(in.Scope, between)
	return dedup.Ref{Rule: rule, Scope: scope, Key: in.Key}
}

// plain is a record beside all rules: the switches and the secret.
func plain(ref dedup.Ref) bool { return ref.Rule == "" }

// apart marks the versions of the embedded store: so a Swap reaches the store
// whose record it was decided on.
const apart = int64(1) << 52

// provisional is what the embedded store has found, as a caller sees it.
func provisional(found dedup.Found) dedup.Found {
	found.Provisional = true
	found.Record.Version |= apart
	return found
}

func live(rec dedup.Record) bool { return rec.State != dedup.None && rec.State != "" }
