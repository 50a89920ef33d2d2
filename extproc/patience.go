package extproc

import "time"

// Patience is how long the proxy waits for an answer of ours to one message.
type Patience struct {
	Message time.Duration // message_timeout; 0 is the proxy's default of 200 ms
	Most    time.Duration // max_message_timeout; 0: the proxy ignores every wish for more
}

const (
	defaultMessage = 200 * time.Millisecond
	// holdWithin is from which message_timeout on a wait within it makes sense.
	holdWithin = time.Second
)

// thaw is how long a proxy that was stopped (a suspended container, a debugger)
// may have slept without letting all who wait pass unguarded when it wakes: it
// looks at its clock before it reads our answers. Who waits is a duplicate, so
// patience costs no incident.
const thaw = 30 * time.Second

func (p Patience) message() time.Duration {
	if p.Message <= 0 {
		return defaultMessage
	}
	return p.Message
}

// margin is what is left of a timeout for the way to the proxy: our own
// deadline is the shorter one.
func margin(timeout time.Duration) time.Duration {
	return min(time.Second, timeout/4)
}

// decide is how long a decision may take that waits for nobody.
func (p Patience) decide() time.Duration { return p.message() - margin(p.message()) }

// plan says how long a request that wants to wait may, and which override of
// the timeout it then has to ask for; zero: none.
func (p Patience) plan(want time.Duration) (wait, override time.Duration) {
	switch own := p.decide(); {
	case want <= 0:
		return 0, 0
	case p.Most > p.message():
		wait = min(want, p.Most-margin(p.Most))
		return wait, min(wait+max(margin(p.Most), margin(wait))+thaw, p.Most)
	case p.message() >= holdWithin:
		return min(want, own), 0
	default:
		return 0, 0
	}
}
