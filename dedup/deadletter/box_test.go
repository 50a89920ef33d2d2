package deadletter_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
)

func TestALetterIsKeptWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options := deadletter.Options{Path: path, Now: func() time.Time { return at.Add(time.Hour) }}
	box := open(t, options)
	sent := letter(7)
	sent.Path, sent.Episode, sent.At = "/api/now/table/incident?sysparm_display_value=true&x=%20", 3, at
	sent.Body = []byte{0, 0xff, '\n', 'x'}
	id := put(t, box, sent)
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	box = open(t, options)
	want := sent
	want.ID, want.Doubt, want.Doubts, want.First, want.LastTry, want.Tries, want.Length = id, true, 1, at, at, 1, 4
	if got := get(t, box, id); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := box.Get(t.Context(), "999"); !errors.Is(err, deadletter.ErrNotFound) {
		t.Errorf("a letter that is not there: %v", err)
	}
}

func TestAClientThatRepeatsAThousandTimesMakesOneLetter(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	box := open(t, deadletter.Options{Now: func() time.Time { return start }})
	for try := range 1000 {
		l := letter(0)
		l.At = start.Add(time.Duration(try) * time.Second)
		if l.Why = deadletter.NeverSent; try == 500 {
			l.Why = deadletter.Unknown
		}
		l.Status = 500 + try%4
		put(t, box, l)
	}
	if n := box.Count(); n != 1 {
		t.Fatalf("%d letters", n)
	}
	l := get(t, box, "1")
	if l.Tries != 1000 || !l.First.Equal(start) || !l.At.Equal(start.Add(999*time.Second)) || l.Status != 503 || l.Why != deadletter.NeverSent || !l.Doubt {
		t.Errorf("%+v", l)
	}
}

func TestASenderWhoseBodiesAllDifferKeepsTheNewestFewOfAnEpisode(t *testing.T) {
	var dropped []deadletter.Drop
	box := open(t, deadletter.Options{OnDrop: func(d deadletter.Drop) { dropped = append(dropped, d) }})
	put(t, box, letter(1))
	for try := range 50 {
		l := letter(0)
		l.Body = fmt.Appendf(nil, `{"sent_at":%d}`, try)
		put(t, box, l)
	}
	if got := box.Count(); got != 5 {
		t.Errorf("%d letters, want the other fault and four", got)
	}
	if len(dropped) != 46 || dropped[0].Bound != deadletter.OverRepeats {
		t.Errorf("%d dropped: %v", len(dropped), dropped)
	}
	if l := get(t, box, "51"); string(l.Body) != `{"sent_at":49}` {
		t.Errorf("the newest is %q", l.Body)
	}
	later := letter(0)
	later.Episode = 2
	put(t, box, later)
	if got := box.Count(); got != 6 {
		t.Errorf("%d letters with the next episode, want 6", got)
	}
}

func TestATicketTakesAllLettersOfItsEpisode(t *testing.T) {
	box := open(t, deadletter.Options{})
	for body := range 3 {
		l := letter(0)
		l.Body = fmt.Append(nil, body)
		put(t, box, l)
	}
	next := letter(0)
	next.Episode = 2
	put(t, box, next)
	elsewhere := letter(0)
	elsewhere.Ref.Scope = "other.service-now.com"
	put(t, box, elsewhere)

	if n, err := box.Remove(t.Context(), letter(0).Ref, 1); n != 3 || err != nil {
		t.Fatalf("removed %d: %v", n, err)
	}
	if n, err := box.Remove(t.Context(), letter(0).Ref, 1); n != 0 || err != nil {
		t.Fatalf("removed %d once more: %v", n, err)
	}
	if got := keys(t, box); len(got) != 2 {
		t.Errorf("%v are left", got)
	}
	for _, id := range []string{"4", "00000005"} {
		if err := box.Delete(t.Context(), id); err != nil {
			t.Errorf("rm %s: %v", id, err)
		}
	}
	if err := box.Delete(t.Context(), "4"); !errors.Is(err, deadletter.ErrNotFound) {
		t.Errorf("rm of what is gone: %v", err)
	}
	if box.Count() != 0 || box.Bytes() != 0 {
		t.Errorf("%d letters of %d bytes are counted", box.Count(), box.Bytes())
	}
}

func TestBoundsDropTheOldestAndSaySo(t *testing.T) {
	day := 24 * time.Hour
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	size := func() int64 { box := open(t, deadletter.Options{}); put(t, box, letter(1)); return box.Bytes() }()
	for _, c := range []struct {
		name    string
		bounds  deadletter.Bounds
		bound   deadletter.Bound
		left    []dedup.Key
		dropped []dedup.Key
	}{
		{"count", deadletter.Bounds{MaxCount: 3}, deadletter.OverCount, keysOf(3, 4, 5), keysOf(1, 2)},
		{"bytes", deadletter.Bounds{MaxBytes: 2*size + size/2}, deadletter.OverBytes, keysOf(4, 5), keysOf(1, 2, 3)},
		{"age", deadletter.Bounds{MaxAge: 2*day + time.Hour}, deadletter.OverAge, keysOf(3, 4, 5), keysOf(1, 2)},
		{"none of them", deadletter.Bounds{}, "", keysOf(1, 2, 3, 4, 5), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := start
			var dropped []dedup.Key
			box := open(t, deadletter.Options{Bounds: c.bounds, Now: func() time.Time { return now }, OnDrop: func(d deadletter.Drop) {
				if dropped = append(dropped, d.Letter.Ref.Key); d.Bound != c.bound {
					t.Errorf("%s is dropped for %s", d.Letter.Ref.Key, d.Bound)
				}
			}})
			for i := 1; i <= 5; i++ {
				now = start.Add(time.Duration(i) * day)
				put(t, box, letter(i))
			}
			if got := keys(t, box); !slices.Equal(got, c.left) {
				t.Errorf("%v are left, want %v", got, c.left)
			}
			if !slices.Equal(dropped, c.dropped) {
				t.Errorf("dropped are %v, want %v", dropped, c.dropped)
			}
		})
	}
}

func TestALetterThatIsSeenAgainIsNotTheOldest(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	box := open(t, deadletter.Options{Bounds: deadletter.Bounds{MaxCount: 2}, Now: func() time.Time { now = now.Add(time.Second); return now }})
	for _, i := range []int{1, 2, 1, 3} {
		put(t, box, letter(i))
	}
	if got := keys(t, box); !slices.Equal(got, keysOf(1, 3)) {
		t.Errorf("%v are left", got)
	}
}

func TestALetterOverAllBoundsIsRefusedLoudlyAndTakesNoOthersPlace(t *testing.T) {
	var dropped []deadletter.Drop
	box := open(t, deadletter.Options{Bounds: deadletter.Bounds{MaxBytes: 1 << 20}, OnDrop: func(d deadletter.Drop) { dropped = append(dropped, d) }})
	put(t, box, letter(1))
	big := letter(2)
	big.Body = bytes.Repeat([]byte("x"), 1<<20)
	if _, err := box.Put(t.Context(), big); !errors.Is(err, deadletter.ErrTooLarge) {
		t.Errorf("saw %v", err)
	}
	if len(dropped) != 1 || dropped[0].Letter.Ref.Key != keyOf(2) || dropped[0].Bound != deadletter.OverBytes {
		t.Errorf("dropped: %v", dropped)
	}
	if got := keys(t, box); !slices.Equal(got, keysOf(1)) {
		t.Errorf("%v are left", got)
	}
}

func TestLowerBoundsHoldFromTheNextStartOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	box := open(t, deadletter.Options{Path: path})
	for i := range 200 {
		put(t, box, letter(i))
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	dropped := 0
	box = open(t, deadletter.Options{Path: path, Bounds: deadletter.Bounds{MaxCount: 10}, OnDrop: func(deadletter.Drop) { dropped++ }})
	if dropped != 190 || len(keys(t, box)) != 10 {
		t.Errorf("%d dropped, %d left", dropped, box.Count())
	}
}

func TestBoundsThatAreChangedHoldFromTheNextPutOn(t *testing.T) {
	box := open(t, deadletter.Options{})
	for i := 1; i <= 3; i++ {
		put(t, box, letter(i))
	}
	box.Bound(deadletter.Bounds{MaxCount: 2})
	put(t, box, letter(4))
	if got := keys(t, box); !slices.Equal(got, keysOf(3, 4)) {
		t.Errorf("%v are left", got)
	}
}

func TestManyPutAndRemoveAtOnce(t *testing.T) {
	box := open(t, deadletter.Options{SyncEvery: time.Millisecond})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 50 {
				l := letter(i)
				if _, err := box.Put(t.Context(), l); err != nil {
					t.Error(err)
				}
				if i%2 == worker%2 && i < 20 {
					if _, err := box.Remove(t.Context(), l.Ref, l.Episode); err != nil {
						t.Error(err)
					}
				}
				if err := box.List(t.Context(), func(deadletter.Letter) bool { return true }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	left := keys(t, box)
	for i := 20; i < 50; i++ {
		if !slices.Contains(left, keyOf(i)) {
			t.Errorf("letter %d is gone", i)
		}
	}
	count, size := box.Count(), box.Bytes()
	for _, key := range left {
		ref := letter(0).Ref
		ref.Key = key
		if _, err := box.Remove(t.Context(), ref, 1); err != nil {
			t.Error(err)
		}
	}
	if box.Count() != 0 || box.Bytes() != 0 {
		t.Errorf("of %d letters and %d bytes, %d and %d are still counted", count, size, box.Count(), box.Bytes())
	}
}

func TestOneProcessAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	box := open(t, deadletter.Options{Path: path})
	if _, err := deadletter.Open(t.Context(), deadletter.Options{Path: path}); !errors.Is(err, deadletter.ErrInUse) {
		t.Errorf("the second saw %v", err)
	}
	put(t, box, letter(1)) // the first is none the worse
	opened := make(chan error)
	go func() {
		second, err := deadletter.Open(t.Context(), deadletter.Options{Path: path, Patience: time.Minute})
		if err == nil {
			err = second.Close()
		}
		opened <- err
	}()
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("the one that waited saw %v", err)
	}
}

func TestOnlyTheOwnerMayReadTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	put(t, open(t, deadletter.Options{Path: path}), letter(1))
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, %v", name, info.Mode(), err)
		}
	}
}

// TestTheLastLetterOfAKey is the newest one of any episode, with its body.
func TestTheLastLetterOfAKey(t *testing.T) {
	box := open(t, deadletter.Options{})
	if _, found, err := box.Last(t.Context(), letter(1).Ref); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	put(t, box, letter(1))
	newer := letter(1)
	newer.Episode, newer.Body = 2, []byte("newer")
	id := put(t, box, newer)
	put(t, box, letter(2))
	l, found, err := box.Last(t.Context(), newer.Ref)
	if err != nil || !found || l.ID != id || string(l.Body) != "newer" {
		t.Errorf("%+v, %v, %v", l, found, err)
	}
}

// TestADoubtThatIsTakenBackIsOneTry: the other one may still be a ticket.
func TestADoubtThatIsTakenBackIsOneTry(t *testing.T) {
	box := open(t, deadletter.Options{})
	l := letter(1)
	l.Why = deadletter.Unknown
	put(t, box, l)
	put(t, box, l)
	for _, left := range []int{1, 0, 0} {
		if err := box.NeverSent(t.Context(), l.Ref, l.Episode); err != nil {
			t.Fatal(err)
		}
		got := get(t, box, "1")
		why := deadletter.Unknown
		if left == 0 {
			why = deadletter.NeverSent
		}
		if doubt, err := box.Doubtful(t.Context(), l.Ref, l.Episode); err != nil || doubt != (left > 0) || got.Doubts != left || got.Why != why {
			t.Errorf("doubtful: %v; %+v, want %d doubts, %s", doubt, got, left, why)
		}
	}
}
