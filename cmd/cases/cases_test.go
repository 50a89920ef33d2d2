package main

import (
	"testing"
)

// TestCases plays every case through a real Envoy, as the command does.
func TestCases(t *testing.T) {
	exceptions, err := parseExceptions(exceptionsText)
	if err != nil {
		t.Fatal(err)
	}
	env, clean, err := options{}.environment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(clean)
	for _, file := range caseFilesOf(t, "") {
		t.Run(caseID(file), func(t *testing.T) {
			t.Parallel()
			r := playFile(t.Context(), env, file)
			line, good := r.verdict(exceptions)
			t.Log(line)
			if good {
				return
			}
			t.Fail()
			r.details(t.Output())
		})
	}
}

func TestEveryExceptionIsACaseOfOurs(t *testing.T) {
	exceptions, err := parseExceptions(exceptionsText)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range caseFilesOf(t, "") {
		delete(exceptions, caseID(file))
	}
	for id := range exceptions {
		t.Errorf("%s is no case", id)
	}
}
