package redisstore_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
)

// calls is how often the server was sent the command.
func (s *server) calls(command string) int {
	s.Helper()
	for line := range strings.Lines(fmt.Sprint(s.do("INFO", "commandstats"))) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
			text, _, _ := strings.Cut(rest, ",")
			n, err := strconv.Atoi(text)
			if err != nil {
				s.Fatal(err)
			}
			return n
		}
	}
	return 0
}

func TestOneRoundTripDecidesAndOneSettles(t *testing.T) {
	s := serve(t)
	p := proxyTo(t, s.addr)
	store := open(t, redisstore.Options{URL: "redis://" + p.addr, Connections: 1, Watch: time.Hour})
	warm := refOf("warm-up")
	claimed(t, store, warm)

	ref := refOf("trips")
	once := func(what string, call func()) {
		t.Helper()
		before := s.calls("evalsha")
		trips := p.during(call)
		if calls := s.calls("evalsha") - before; calls != 1 || trips != 1 {
			t.Errorf("%s: %d calls in %d round trips, want 1", what, calls, trips)
		}
	}
	var found dedup.Found
	once("a claim that wins", func() { found = claimed(t, store, ref) })
	once("settling it", func() {
		if _, err := store.Swap(t.Context(), ref, found.Record.Version, openOf(found), "n"); err != nil {
			t.Fatal(err)
		}
	})
	once("a re-fire", func() {
		if got, err := store.Claim(t.Context(), ref, offerOf("other", ref)); err != nil || got.Won || got.Record.Response == nil {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	if n := s.calls("eval"); n != 0 {
		t.Errorf("%d times a script was sent in full", n)
	}
}

func TestAServerThatForgotItsScriptsIsToldThemAgain(t *testing.T) {
	s := serve(t)
	store := open(t, redisstore.Options{URL: s.url()})
	ref := refOf("forgotten")
	s.do("SCRIPT", "FLUSH")
	rec := opened(t, store, ref)
	s.do("SCRIPT", "FLUSH")
	if err := store.MarkSent(t.Context(), ref, "h"); err != nil {
		t.Fatal(err)
	}
	if found, err := store.Claim(t.Context(), ref, offerOf("other", ref)); err != nil || found.Won || found.Record.Version != rec.Version {
		t.Fatalf("%+v, %v", found, err)
	}
	sent := s.calls("eval")
	opened(t, store, refOf("again"))
	if n := s.calls("eval") - sent; n != 1 { // the swap's
		t.Errorf("%d scripts were sent in full, want 1", n)
	}
}
