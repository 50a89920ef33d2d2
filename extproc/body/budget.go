package body

import "time"

// A budget is the time that reading one body may take. A small body is read to
// its end whatever the clock says: the machine may have been busy elsewhere.
type budget struct {
	now   func() time.Time
	until time.Time
	steps int
	over  bool
}

// budgetSteps is how much is read between two looks at the clock; one step is
// about one element of XML.
const budgetSteps = 1024

// goesOn looks at the clock now.
func (b *budget) goesOn() bool { return b.spend(budgetSteps) }

// spend takes steps from the budget; false when it is over. A nil budget never
// is.
func (b *budget) spend(steps int) bool {
	if b == nil {
		return true
	}
	if b.steps += steps; b.steps < budgetSteps {
		return true
	}
	b.steps = 0
	b.over = b.over || b.now().After(b.until)
	return !b.over
}
