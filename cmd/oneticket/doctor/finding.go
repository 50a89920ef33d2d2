package doctor

import (
	"fmt"
	"io"
)

// Verdict is what came of one check.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Fail    Verdict = "FAIL"
	Skipped Verdict = "-" // could not be looked at, because of something before it
)

// A Finding is what one check found.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	Why     string  `json:"why,omitempty"` // it matters
	Set     string  `json:"set,omitempty"` // what to change
}

// Write writes the finding as a line; one that is wrong has two more.
func (f Finding) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%-5s%s: %s\n", f.Verdict, f.Check, f.Found)
	if f.Verdict == Fail && err == nil {
		_, err = fmt.Fprintf(w, "       why: %s\n       set: %s\n", f.Why, f.Set)
	}
	return err
}

func good(check, format string, args ...any) Finding {
	return Finding{Check: check, Verdict: OK, Found: fmt.Sprintf(format, args...)}
}

func skipped(check, because string) Finding {
	return Finding{Check: check, Verdict: Skipped, Found: "not looked at: " + because}
}

// bad is a fault; why and set come from its check.
func (c check) bad(format string, args ...any) Finding {
	return Finding{Check: c.name, Verdict: Fail, Found: fmt.Sprintf(format, args...), Why: c.why, Set: c.set}
}
