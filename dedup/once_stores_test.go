package dedup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
	"oneticket/dedup/redisstore"
	"oneticket/dedup/sqlitestore"
	"oneticket/dedup/storetest"
)

// onceStores are the stores that the stories of Once are told over. A new store
// is a line.
var onceStores = map[string]func(*testing.T) dedup.Store{
	"memory": func(*testing.T) dedup.Store { return storetest.NewMemory(time.Now) },
	"sqlite": func(t *testing.T) dedup.Store {
		store, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Path: filepath.Join(t.TempDir(), "once.db"), Timeout: onceTimeout})
		if err != nil {
			t.Fatal(err)
		}
		return store
	},
	"redis": startRedis,
	"postgres": func(t *testing.T) dedup.Store {
		store, err := pgstore.Open(t.Context(), pgstore.Options{URL: pgtest.For(t).SocketURL(), Timeout: onceTimeout})
		if err != nil {
			t.Fatal(err)
		}
		return store
	},
}

// onceTimeout is patient: all of it runs on one machine here.
const onceTimeout = 5 * time.Second

// startRedis runs a server for the test and returns a store in it that answers.
func startRedis(t *testing.T) dedup.Store {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("no redis-server: run `make services`, or apt-get install redis-server")
	}
	dir, err := os.MkdirTemp("", "once") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	store, err := redisstore.New(redisstore.Options{URL: "unix://" + socket, Timeout: onceTimeout})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, err := store.Get(t.Context(), dedup.Ref{Rule: "any", Key: "any"})
		if err == nil {
			return store
		}
		if time.Now().After(deadline) {
			t.Fatalf("redis-server does not answer: %v", err)
		}
	}
}

// TestTheExamplesHoldOverEveryStore: they say over each what they say over the
// embedded one.
func TestTheExamplesHoldOverEveryStore(t *testing.T) {
	for _, story := range []struct {
		name, file string
		tell       func(io.Writer, dedup.Store)
	}{
		{"jobWorker", "example_job_test.go", jobWorker},
		{"webhookReceiver", "example_webhook_test.go", webhookReceiver},
		{"paymentEndpoint", "example_payment_test.go", paymentEndpoint},
	} {
		want := outputOf(t, story.file, story.name)
		for name, open := range onceStores {
			t.Run(story.name+" over "+name, func(t *testing.T) {
				store := open(t)
				defer store.Close()
				var out bytes.Buffer
				story.tell(&out, store)
				if got := out.String(); got != want {
					t.Errorf("said\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// outputOf is what the example in the file says that it prints.
func outputOf(t *testing.T, file, example string) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.Examples([]*ast.File{parsed}...) {
		if e.Name == "_"+example && e.Output != "" {
			return e.Output
		}
	}
	t.Fatalf("no Example_%s with an output in %s", example, file)
	return ""
}

// TestResultsThatAreKeptNoLongerAreRemoved from the embedded store, without
// anybody who asks for their keys. Redis removes by itself, see there.
func TestResultsThatAreKeptNoLongerAreRemoved(t *testing.T) {
	store := embedded()
	defer store.Close()
	once := dedup.NewOnce(dedup.OnceOptions{Store: store, Name: "payments", Keep: time.Second})
	defer once.Close()
	paid := func(context.Context) ([]byte, error) { return []byte("paid"), nil }
	declined := func(context.Context) ([]byte, error) { return nil, errors.New("declined") }
	once.Do(t.Context(), "paid", paid)
	once.Do(t.Context(), "declined", declined)
	if _, replayed, err := once.Do(t.Context(), "paid", paid); !replayed || err != nil {
		t.Errorf("at once: replayed %t, %v", replayed, err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for i := 0; !removed(t, store, "paid") || !removed(t, store, "declined"); i++ {
		if time.Now().After(deadline) {
			t.Fatal("they are still there")
		}
		if _, _, err := once.Do(t.Context(), dedup.Key(fmt.Sprint("other-", i)), paid); err != nil { // what sets the housekeeping off
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if _, replayed, err := once.Do(t.Context(), "paid", paid); replayed || err != nil {
		t.Errorf("afterwards: replayed %t, %v", replayed, err)
	}
}

func removed(t *testing.T, store dedup.Store, key dedup.Key) bool {
	t.Helper()
	found, err := store.Get(t.Context(), dedup.Ref{Rule: "payments", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return found.Record.Version == 0
}
