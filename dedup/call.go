package dedup

// A Call is one request of ours to a backend: a look-up, a read or an update,
// as a rule writes it. It has neither a host nor a credential: whoever sends it
// adds the backend's address and what the caller presented.
type Call struct {
	Method string
	Path   string        // with the query, percent-encoded; begins with one slash
	Header []HeaderField // names in lower case, in order
	Body   []byte        // nil = none
}
