package storetest

import (
	"strconv"
	"time"

	"oneticket/dedup"
)

func tokens(s *scene) {
	for _, c := range []struct {
		name string
		rule dedup.TokenRule
		want func(key string, at time.Time) [3]string // of episodes 1 to 3
	}{
		{"plain", dedup.TokenRule{Style: dedup.PlainToken}, func(key string, _ time.Time) [3]string {
			return [3]string{key, key, key}
		}},
		{"no style", dedup.TokenRule{}, func(key string, _ time.Time) [3]string {
			return [3]string{key, key, key}
		}},
		{"episode", dedup.TokenRule{Style: dedup.EpisodeToken}, func(key string, _ time.Time) [3]string {
			return [3]string{key, key + ".2", key + ".3"}
		}},
		{"time", dedup.TokenRule{Style: dedup.TimeToken}, func(key string, at time.Time) [3]string {
			token := key + "." + strconv.FormatInt(at.Unix(), 10)
			return [3]string{token, token, token}
		}},
		{"given", dedup.TokenRule{Given: "client \"key\"/\u00e9\xff", Style: dedup.TimeToken}, func(string, time.Time) [3]string {
			return [3]string{"client \"key\"/\u00e9\xff", "client \"key\"/\u00e9\xff", "client \"key\"/\u00e9\xff"}
		}},
	} {
		ref := refOf("token-" + c.name)
		c.rule.Key = ref.Key
		for i := range 3 {
			o := offerOf(holder+strconv.Itoa(i), ref)
			o.Token = c.rule
			found := s.won(s.one, ref, o)
			if want := c.want(string(ref.Key), found.Now)[i]; found.Record.Token != want {
				s.Fatalf("%s, episode %d: token %q, want %q", c.name, i+1, found.Record.Token, want)
			}
			if seen := s.get(ref).Record.Token; seen != found.Record.Token {
				s.Fatalf("%s, episode %d: token %q, then %q", c.name, i+1, found.Record.Token, seen)
			}
			if prior := found.Record.Prior; i > 0 && prior.Token != c.want(string(ref.Key), prior.ClaimedAt)[i-1] {
				s.Fatalf("%s, episode %d: the token of the prior is %q", c.name, i+1, prior.Token)
			}
			s.freed(ref, found.Record)
		}
	}
	s.tokenAfterAStub()
}

// tokenAfterAStub: what a refused first create leaves is no episode, so the
// next claim is the first again.
func (s *scene) tokenAfterAStub() {
	ref := refOf("token-stub")
	found := s.won(s.one, ref, offerOf(holder, ref))
	s.freed(ref, dedup.Record{State: dedup.None, Version: found.Record.Version, KeepUntil: found.Record.KeepUntil})
	again := s.won(s.two, ref, offerOf(another, ref))
	if again.Record.Episode != 1 || again.Record.Token != string(ref.Key) {
		s.Fatalf("after a stub: episode %d, token %q; want 1, %q", again.Record.Episode, again.Record.Token, ref.Key)
	}
}

// freed lets the next claim take the record at once.
func (s *scene) freed(ref dedup.Ref, rec dedup.Record) dedup.Record {
	s.Helper()
	rec.FreeAt = time.Time{}
	return s.swap(s.one, ref, rec.Version, rec, "")
}
