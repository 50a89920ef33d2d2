package envoy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
)

// A board has what is published, and hands it to every stream that asks. What
// it tells a stream depends on what that stream was sent last, and not on what
// it took: so a configuration that was refused is never sent again in a loop,
// and going back to the last good one is sent although Envoy says that it
// still has it, because it may have taken a part of the refused one.
type board struct {
	mu      sync.Mutex
	now     *snapshot // nil: nothing is published, and nobody gets an answer
	round   int       // counted up to send again what was sent
	watches map[*watch]struct{}
}

// A watch is a stream that waits for something new of one kind.
type watch struct {
	request *cachev3.Request
	sub     cachev3.Subscription
	out     chan cachev3.Response
}

func newBoard() *board { return &board{watches: map[*watch]struct{}{}} }

func (b *board) current() *snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// publish hands s to all who wait for it; with again also what they were sent
// before.
func (b *board) publish(s *snapshot, again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = s
	if again {
		b.round++
	}
	for _, kind := range kinds {
		for w := range b.watches {
			if w.request.GetTypeUrl() == kind && b.answer(w) {
				delete(b.watches, w)
			}
		}
	}
}

// CreateWatch answers at once where there is something new.
func (b *board) CreateWatch(r *cachev3.Request, sub cachev3.Subscription, out chan cachev3.Response) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &watch{request: r, sub: sub, out: out}
	if b.answer(w) {
		return func() {}, nil
	}
	b.watches[w] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watches, w)
	}, nil
}

// CreateDeltaWatch is not served: Envoy is told to ask for whole states.
func (b *board) CreateDeltaWatch(*cachev3.DeltaRequest, cachev3.Subscription, chan cachev3.DeltaResponse) (func(), error) {
	return nil, errors.New("incremental discovery is not served")
}

// wholeKind stands for all of a kind among the names that were sent.
const wholeKind = ""

// answer sends what is new to the watch; false if nothing is.
func (b *board) answer(w *watch) bool {
	if b.now == nil {
		return false
	}
	all, ok := b.now.kinds[w.request.GetTypeUrl()]
	if !ok {
		return false
	}
	names := all.wanted(w.sub)
	mark := fmt.Sprint(all.version, "/", b.round)
	sent := w.sub.ReturnedResources()
	if !slices.ContainsFunc(names, func(name string) bool { return sent[name] != mark }) {
		return false
	}
	response := &discoveryv3.DiscoveryResponse{VersionInfo: all.version, TypeUrl: w.request.GetTypeUrl()}
	returned := make(map[string]string, len(names))
	for _, name := range names {
		returned[name] = mark
		if name != wholeKind {
			response.Resources = append(response.Resources, all.members[name])
		}
	}
	// The channel has room for one response of each kind, and a kind is watched
	// anew only after its last response was taken out.
	w.out <- &cachev3.PassthroughResponse{Request: w.request, DiscoveryResponse: response, ReturnedResources: returned}
	return true
}

// wanted are the names of what the subscription gets, sorted.
func (s set) wanted(sub cachev3.Subscription) []string {
	if sub.IsWildcard() {
		return append([]string{wholeKind}, slices.Sorted(maps.Keys(s.members))...)
	}
	var names []string
	for name := range sub.SubscribedResources() {
		if _, ok := s.members[name]; ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
