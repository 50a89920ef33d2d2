// Package kinds checks that the objects of Kubernetes in the examples are what
// they say they are: they decode strictly as the Go types of their kinds. It is
// a module of its own, since these types bring half of Kubernetes with them.
package kinds
