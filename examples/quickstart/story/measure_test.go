package main

import (
	"slices"
	"strings"
	"testing"
)

// kept is a chapter in which the promise holds: two faults in five requests.
func kept() measured {
	a, b := fault{element: "rtr-1", class: "POWER"}, fault{element: "rtr-2", class: "POWER"}
	return measured{
		answers: []answer{
			told(a, "INC1"), told(a, "INC1"), told(a, "INC1"), told(b, "INC2"), told(b, "INC2"),
		},
		faults: 2, requests: 5, tickets: 2, keyed: 2, suppressed: 3,
	}
}

func told(f fault, number string) answer { return answer{fault: f, status: 201, number: number} }

func TestBrokenPromiseIsSaidInOneSentence(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*measured)
		says   string
	}{
		"kept":                       {func(*measured) {}, ""},
		"a second ticket":            {func(m *measured) { m.tickets = 3 }, "tickets: 3, should be 2"},
		"a fault without a ticket":   {func(m *measured) { m.tickets = 1 }, "tickets: 1, should be 2"},
		"a refused create":           {func(m *measured) { m.answers[1].status = 503 }, "rtr-1 POWER was answered 503"},
		"an answer without a number": {func(m *measured) { m.answers[4].number = "" }, "rtr-2 POWER was answered 201"},
		"another fault's ticket":     {func(m *measured) { m.answers[4].number = "INC1" }, "rtr-2 POWER name 2 tickets"},
		"one ticket of two faults": {
			func(m *measured) { m.answers[3].number, m.answers[4].number = "INC1", "INC1" }, "INC1 is the ticket of rtr-1 POWER and of rtr-2 POWER",
		},
		"a create without a token":    {func(m *measured) { m.keyed = 1 }, "creates with a token: 1, should be 2"},
		"a suppression nobody counts": {func(m *measured) { m.suppressed = 2 }, "suppressed: 2, should be 3"},
		"a change is no suppression":  {func(m *measured) { m.suppressed, m.changed = 2, 1 }, ""},
		"a change nobody counts":      {func(m *measured) { m.changed = 1 }, "suppressed: 3, should be 2"},
	} {
		t.Run(name, func(t *testing.T) {
			m := kept()
			m.answers = slices.Clone(m.answers)
			c.change(&m)
			checkSays(t, m.oneTicketEach(), c.says)
		})
	}
}

func TestRuleOnTrialMustTouchNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*measured)
		says   string
	}{
		"untouched":          {func(*measured) {}, ""},
		"a request is eaten": {func(m *measured) { m.tickets = 4 }, "tickets: 4, should be 5"},
		"a token is added":   {func(m *measured) { m.keyed = 1 }, "creates with a token: 1, should be 0"},
		"an answer is marked": {
			func(m *measured) { m.answers[2].decision = "suppress; reason=refire" }, `says "suppress; reason=refire"`,
		},
		"nothing is counted": {func(m *measured) { m.suppressed = 0 }, "had the rule been enforced: 0, should be 3"},
	} {
		t.Run(name, func(t *testing.T) {
			m := kept()
			m.tickets, m.keyed = 5, 0
			c.change(&m)
			checkSays(t, m.untouched(), c.says)
		})
	}
}

func checkSays(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("says %q, though the promise holds", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("says %v, want %q", err, want)
	}
}
