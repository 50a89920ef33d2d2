package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"oneticket/dedup"
)

// A setting is what one schedule runs in: the ticket system, the rule's
// policy, the requests, and how much may go wrong.
type setting struct {
	name     string
	system   system
	onClosed onClosed
	webhook  bool // a person's close is told to us, some time later
	ticking  bool // time also goes on by single seconds
	policy   dedup.Policy
	requests []wanted
	faults   [faults]int8
}

// system is the ticket system: what it does with tokens and questions.
type system struct {
	name    string
	memory  dedup.Memory
	marks   bool // its answers say whether the ticket is new or remembered
	lookUp  bool
	lag     int  // seconds until a new ticket is found by its token
	read    bool // tickets can be read by id
	noRight bool // the callers may neither look up nor read
}

var systems = []system{
	{name: "remembers", memory: dedup.Remembers},
	{name: "remembers+read", memory: dedup.Remembers, marks: true, read: true},
	{name: "remembers+look", memory: dedup.Remembers, lookUp: true, read: true},
	{name: "folds", memory: dedup.Folds},
	{name: "folds+new", memory: dedup.Folds, marks: true, read: true},
	{name: "look", lookUp: true, read: true},
	{name: "look+lag", lookUp: true, read: true, lag: 6},
	{name: "look+noright", lookUp: true, read: true, noRight: true},
	{name: "nothing"},
}

func systemNamed(name string) system {
	for _, s := range systems {
		if s.name == name {
			return s
		}
	}
	panic("no system " + name)
}

// onClosed is what the ticket system does with an update of a closed ticket.
type onClosed uint8

const (
	refuses onClosed = iota
	accepts
	answersGone
)

// wanted is one request: of which client (they go one after another), and how
// bad it is: A, the worse B, or C for cleared.
type wanted struct {
	client   int
	severity string
}

// requestsOf reads "a:A a:C b:B".
func requestsOf(text string) []wanted {
	var all []wanted
	for _, f := range strings.Fields(text) {
		client, severity, _ := strings.Cut(f, ":")
		all = append(all, wanted{client: int(client[0] - 'a'), severity: severity})
	}
	return all
}

// The times of every setting, in seconds. An exchange ends well before its
// lease; settle is longer than anything goes on working after its caller left.
const (
	lease    = 20
	exchange = 10
	settle   = 15
	shortTTL = 37
	longTTL  = 100_000
	verify   = 41
	reopen   = 61
	remember = 200_000
)

func policyOf(s system, expires, verifies, reopens bool) dedup.Policy {
	p := dedup.Policy{
		TTL: longTTL * time.Second, MaxAge: 5 * longTTL * time.Second, Remember: remember * time.Second,
		Settle: settle * time.Second, Lease: lease * time.Second,
		Memory: s.memory, MemoryFor: 2 * time.Hour,
		CanLookUp: s.lookUp, CanRead: s.read, CanUpdate: true, CanReopen: reopens,
		Severities: map[string]int{"A": 1, "B": 2},
	}
	if expires {
		p.TTL = shortTTL * time.Second
	}
	if verifies && s.read {
		p.VerifyEvery = verify * time.Second
	}
	if reopens {
		p.ReopenWithin = reopen * time.Second
	}
	return p
}

// A fault is something that goes wrong, so many times at most in a schedule.
type fault uint8

const (
	ackLost  fault = iota // the answer of the ticket system is lost
	slow                  // the caller's time is over, the exchange goes on
	never                 // the proxy could not send it
	refuse                // the ticket system refuses a create
	human                 // a person closes a ticket
	lost                  // the store has written, its reply is lost
	updFail               // an update fails
	forbid                // an update is refused for lack of rights
	abort                 // the client goes
	crash                 // a replica dies
	lookFail              // a look-up or a read is not answered
	unmarked              // the mark `sent` is lost
	passing               // not a fault: time goes on to the next instant
	faults                // how many there are
)

var faultNames = [faults]string{
	"ackLost", "slow", "never", "refuse", "human", "lost", "updFail", "forbid", "abort", "crash", "lookFail", "unmarked", "passing",
}

// randomSetting makes one of many settings.
func randomSetting(r *rand.Rand) *setting {
	return randomSettingOf(r, systems[r.IntN(len(systems))])
}

func randomSettingOf(r *rand.Rand, system system) *setting {
	s := &setting{system: system, onClosed: onClosed(r.IntN(3)), webhook: r.IntN(2) == 0, ticking: r.IntN(2) == 0}
	s.policy = policyOf(s.system, r.IntN(4) == 0, r.IntN(2) == 0, r.IntN(3) == 0)
	if r.IntN(3) == 0 {
		s.policy.UpdateRate = dedup.UpdateRate{Count: 1, Per: time.Duration(lease+r.IntN(3*settle)) * time.Second}
	}
	severities := []string{"AAAA", "AABB", "ACAA", "ABAB", "ACBA", "AACC"}[r.IntN(6)]
	for i := range 3 + r.IntN(3) {
		s.requests = append(s.requests, wanted{client: r.IntN(3), severity: string(severities[i%4])})
	}
	for range 1 + r.IntN(5) {
		s.faults[r.IntN(int(passing))]++
	}
	s.faults[passing] = int8(2 + r.IntN(9))
	s.name = s.String()
	return s
}

func (s *setting) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s onClosed=%d webhook=%t ttl=%v verify=%v reopen=%v rate=%v requests=", s.system.name, s.onClosed, s.webhook,
		s.policy.TTL, s.policy.VerifyEvery, s.policy.ReopenWithin, s.policy.UpdateRate.Per)
	for _, w := range s.requests {
		fmt.Fprintf(&b, "%c:%s ", 'a'+rune(w.client), w.severity)
	}
	for f, n := range s.faults {
		if n > 0 {
			fmt.Fprintf(&b, "%s=%d ", faultNames[f], n)
		}
	}
	return b.String()
}
