package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

// A ruleBook holds the rules that the stream decides by: those of the
// configuration, less what is switched off. The stream reads one pointer,
// which is only ever swapped as a whole.
type ruleBook struct {
	current atomic.Pointer[extproc.Rules]
	store   dedup.Store
	metrics *admin.Metrics
	log     *slog.Logger
	done    chan struct{}
	ended   sync.WaitGroup

	mu       sync.Mutex // guards what current is made of
	rules    *extproc.Rules
	switches dedup.Switches
}

func newRuleBook(cfg *config.Config, spec envoy.Spec, px proxy, store dedup.Store, m *admin.Metrics, log *slog.Logger) (*ruleBook, error) {
	rules, err := streamRules(cfg, spec, px, m)
	if err != nil {
		return nil, err
	}
	b := &ruleBook{store: store, metrics: m, log: log, done: make(chan struct{})}
	b.use(rules)
	return b, nil
}

// use makes the rules the current ones.
func (b *ruleBook) use(rules *extproc.Rules) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = rules
	b.publish()
}

// inForce are the rules of the configuration, what is switched off included.
func (b *ruleBook) inForce() *extproc.Rules {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rules
}

// publish must be called with the book locked.
func (b *ruleBook) publish() {
	next := *b.rules
	next.Rules = slices.Clone(b.rules.Rules)
	for i, r := range next.Rules {
		if b.switches.Off(r.Name) {
			off := *r
			off.Action = extproc.Off
			next.Rules[i] = &off
		}
	}
	b.current.Store(&next)
}

// off are the names of the rules that are switched off.
func (b *ruleBook) off() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for _, r := range b.rules.Rules {
		if b.switches.Off(r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// readSwitches is how often the store is asked for the switches: often enough
// that two readings lie within what the commands promise.
const readSwitches = obeysWithin * 2 / 5

// watch obeys the switches, for the first time before it returns, until the
// book is closed. A store that does not answer changes nothing.
func (b *ruleBook) watch() {
	b.obey()
	b.ended.Go(func() {
		tick := time.NewTicker(readSwitches)
		defer tick.Stop()
		for {
			select {
			case <-b.done:
				return
			case <-tick.C:
				b.obey()
			}
		}
	})
}

func (b *ruleBook) obey() {
	ctx, cancel := context.WithTimeout(context.Background(), readSwitches)
	defer cancel()
	switches, err := dedup.ReadSwitches(ctx, b.store)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if switches.All == b.switches.All && slices.Equal(switches.Rules, b.switches.Rules) {
		return
	}
	b.switches = switches
	b.publish()
	b.log.Warn("the switches have changed", "all_off", switches.All, "rules_off", switches.Rules)
}

func (b *ruleBook) close() {
	close(b.done)
	b.ended.Wait()
}
