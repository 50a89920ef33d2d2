// Package config turns HCL into checked, compiled rules.
//
// A configuration is a file, or the *.hcl files of a folder. Load reads all of
// it, reports every mistake with its place, and returns values that never
// change: a reload makes a new Config and swaps one pointer. LoadForRun also
// reads the certificates that are named in it.
//
// What a setting is called, what it may be and what it is when nobody sets it
// stands in one table, Settings. What a ticket system is like stands in
// presets, which are files in the language of a rule: a new vendor is a new
// file. Those that were made from descriptions alone, and have no files of their
// own, are blocks of presets/unproven.hcl.
//
// The expressions of a rule read requests and answers. Every scalar of a body
// is a text, whatever its format; what is not there, at any depth, is null; and
// == compares as text. Plain paths and the commonest functions are compiled to
// Go, all else is evaluated by HCL, and both mean the same.
package config

//go:generate go test -count=1 -run ^TestReferencePage$ -update .
