package pgstore

// Once makes a call be sent once, so that a history shows single calls.
func (o Options) Once() Options {
	o.once = true
	return o
}

// Columns are those of a record's row that are not its ref or its nonce.
func Columns() []string {
	var all []string
	for _, part := range [][]string{numbers, texts, blobs} {
		all = append(all, part...)
	}
	return all
}

// LastVersion is that of the schema.
const LastVersion = lastVersion
