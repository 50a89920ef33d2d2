package main

import (
	"strings"
	"testing"
)

func TestTableMarksWhatWasOnlyCounted(t *testing.T) {
	var out strings.Builder
	newTeller(&out).table([]row{
		{name: "re-fires", faults: 20, requests: 220, tickets: 20, suppressed: 200},
		{name: "observe", faults: 20, requests: 220, tickets: 220, suppressed: 200, observed: true},
	})
	const want = `
                                 faults  requests  tickets  updates  suppressed
  re-fires                           20       220       20        0         200
  observe                            20       220      220        0       (200)
  ( ) counted only: what the rule would have suppressed, had it been enforced

`
	if got := out.String(); got != want {
		t.Errorf("table:\n%s\nwant:\n%s", got, want)
	}
}

func TestProgressIsForTerminalsOnly(t *testing.T) {
	var file, terminal strings.Builder
	newTeller(&file).progress("%d of %d", 1, 2)
	if file.String() != "" {
		t.Errorf("in a file: %q", file.String())
	}
	on := &teller{w: &terminal, terminal: true}
	on.progress("%d of %d", 10, 20)
	on.say("over")
	if want := "\r  10 of 20\r          \r  over\n"; terminal.String() != want {
		t.Errorf("on a terminal: %q, want %q", terminal.String(), want)
	}
}
