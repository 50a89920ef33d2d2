package deadletter_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/deadletter"
)

// The test binary is also the process that is killed while it puts letters.
const childVariable = "DEADLETTER_CHILD"

func TestMain(m *testing.M) {
	path := os.Getenv(childVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := putForEver(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// putForEver says the key of each letter after it was put.
func putForEver(path string) error {
	box, err := deadletter.Open(context.Background(), deadletter.Options{Path: path})
	if err != nil {
		return err
	}
	for i := box.Count(); ; i++ {
		if _, err := box.Put(context.Background(), letter(int(i))); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func idOf(n int) string { return fmt.Sprintf("%08d", n) }

func keyOf(i int) dedup.Key { return dedup.Key("idem:" + strconv.Itoa(i)) }

// letter is a create whose acknowledgement was lost.
func letter(i int) deadletter.Letter {
	return deadletter.Letter{
		Ref:     dedup.Ref{Rule: "network_faults", Scope: "acme.service-now.com", Key: keyOf(i)},
		Backend: "servicenow", Episode: 1, Token: string(keyOf(i)),
		Why: deadletter.Unknown, Status: 504,
		Method: "POST", Path: "/api/now/table/incident",
		Header: []dedup.HeaderField{{Name: "content-type", Value: "application/json"}},
		Body:   fmt.Appendf(nil, `{"cmdb_ci":"core-%d","urgency":"1","description":"a line of some length that says what the matter is"}`, i),
	}
}

func open(t testing.TB, o deadletter.Options) *deadletter.Box {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), deadletter.FileName)
	}
	if o.OnError == nil {
		o.OnError = func(err error) { t.Error(err) }
	}
	box, err := deadletter.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

func put(t testing.TB, box *deadletter.Box, l deadletter.Letter) string {
	t.Helper()
	id, err := box.Put(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func get(t testing.TB, box *deadletter.Box, id string) deadletter.Letter {
	t.Helper()
	l, err := box.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// keys are those of all letters, in order.
func keys(t testing.TB, box *deadletter.Box) []dedup.Key {
	t.Helper()
	var found []dedup.Key
	if err := box.List(t.Context(), func(l deadletter.Letter) bool { found = append(found, l.Ref.Key); return true }); err != nil {
		t.Fatal(err)
	}
	if int64(len(found)) != box.Count() {
		t.Errorf("%d letters are counted, %d are there", box.Count(), len(found))
	}
	return found
}

func keysOf(numbers ...int) []dedup.Key {
	var keys []dedup.Key
	for _, n := range numbers {
		keys = append(keys, keyOf(n))
	}
	return keys
}

// TestKilledWhilePuttingEveryLetterThatWasAcknowledgedIsThere, round after
// round on the same file.
func TestKilledWhilePuttingEveryLetterThatWasAcknowledgedIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), deadletter.FileName)
	for round := range 6 {
		told := killedAfter(t, path, 10+83*round)
		box := open(t, deadletter.Options{Path: path})
		there := keys(t, box)
		for _, n := range told {
			if !slices.Contains(there, keyOf(n)) {
				t.Fatalf("round %d: letter %d was acknowledged and is gone", round, n)
			}
		}
		for _, key := range there {
			n, _ := strconv.Atoi(string(key[len("idem:"):]))
			if l := get(t, box, strconv.Itoa(n+1)); string(l.Body) != string(letter(n).Body) {
				t.Fatalf("round %d: letter %d has the body %q", round, n, l.Body)
			}
		}
		if err := box.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killedAfter starts a process that puts letters, kills it after it has
// acknowledged some, and returns all that it has acknowledged.
func killedAfter(t *testing.T, path string, some int) []int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+path)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var told []int
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		if told = append(told, n); len(told) == some {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	if len(told) < some {
		t.Fatalf("the process ended after %d letters", len(told))
	}
	return told
}
