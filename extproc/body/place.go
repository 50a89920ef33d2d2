package body

import "oneticket/dedup"

// A Place is where in a body a value goes. The path goes through members of
// JSON, elements of XML by their local names, and a field of a form, and on into
// what that field says. In a list of JSON Patch it is the "path" of an
// operation.
type Place struct {
	Path []string
	List bool             // the value becomes the last item of the list there, unless it is one already
	Item *dedup.TokenItem // the value goes into one item of the list there
	Over bool             // a text or number that stands there is replaced; else it stays, and nothing is written
}

// A writing is what is to stand where in a body.
type writing struct {
	Place
	value string
}

// below is the writing inside of what the first name of the path says.
func (w writing) below() writing {
	w.Path = w.Path[1:]
	return w
}
