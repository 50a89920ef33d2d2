package main

import "go.uber.org/dig"

// rootCause takes the names of constructors off an error of the graph: what is
// left is what the user did, and can mend.
func rootCause(err error) error { return dig.RootCause(err) }
