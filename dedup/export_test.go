package dedup

// Overtaken is what a create that is sent again finds in the record; for the
// simulator.
func Overtaken(s Send, found Found) bool { return (&Hold{send: s}).overtaken(found) }

// Unowed is what it finds in its claim.
func Unowed(rec Record) bool { return rec.unowed() }
