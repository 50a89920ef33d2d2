// Package storetest says what a dedup.Store is, once, for all stores: a store's
// own test is a Harness and one call of Run. What is particular to a store
// (its files, its servers, its deaths) it tests beside that.
//
// It also has what other tests need: Memory, the simplest store that keeps the
// contract, and Faulty, which fails before or after it applies a call.
package storetest
