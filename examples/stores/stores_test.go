package stores_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
	"oneticket/dedup/redisstore"
	"oneticket/dedup/sqlitestore"
)

// load loads an example, as it is and in form.
func load(t *testing.T, kind string) config.Store {
	t.Helper()
	path := filepath.Join(kind, "oneticket.hcl")
	c, diags := config.Load(path)
	if diags.Len() > 0 {
		t.Fatal(diags)
	}
	if c.Store.Kind != kind {
		t.Fatalf("it has a store %q", c.Store.Kind)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if formatted, diags := config.Format(text, path); diags.HasErrors() || string(formatted) != string(text) {
		t.Errorf("%s is not in form: run oneticket fmt", path)
	}
	return c.Store
}

// blocks are what stands in the page's fences of the language.
func blocks(t *testing.T, kind, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kind, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		all = append(all, block)
	}
	return all
}

// decides claims twice: one wins.
func decides(t *testing.T, store dedup.Store) {
	t.Helper()
	t.Cleanup(func() { store.Close() })
	ref := dedup.Ref{Rule: "network_faults", Scope: "acme.service-now.com", Key: "idem:0"}
	for i, holder := range []string{"first", "second"} {
		offer := &dedup.Offer{Holder: holder, Token: dedup.TokenRule{Key: ref.Key}, Identity: []byte("element_id=core-1"), Lease: time.Minute, Keep: time.Hour}
		if found, err := store.Claim(t.Context(), ref, offer); err != nil || found.Won != (i == 0) {
			t.Fatalf("the %s claim: won %v, %v", holder, found.Won, err)
		}
	}
}

func TestPostgreSQLAsThePageSetsItUp(t *testing.T) {
	s := pgtest.For(t, "fsync=on", "full_page_writes=on")
	sql := blocks(t, "postgres", "sql")
	if len(sql) != 2 {
		t.Fatalf("%d blocks of SQL", len(sql))
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(sql[0]), "\n") {
		s.Do(t, statement)
	}
	t.Setenv("DATABASE_URL", "postgres://oneticket:change%20me@"+s.Addr+"/oneticket?sslmode=disable")
	from := load(t, "postgres")
	store, err := pgstore.Open(t.Context(), pgstore.Options{URL: from.URL, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	decides(t, store)
	if warnings, err := store.Check(t.Context()); err != nil || len(warnings) > 0 {
		t.Errorf("%v, %v", warnings, err)
	}
	look := strings.NewReplacer("SELECT rule", "SELECT count(*) FROM (SELECT rule", ";", ") AS seen").Replace(sql[1])
	s.Database = "oneticket"
	if n := pgtest.Ask[int](t, s, look); n != 1 {
		t.Errorf("%d records are seen, want 1", n)
	}
}

func TestRedisAsThePageSetsItUp(t *testing.T) {
	conf := strings.Fields(strings.Join(blocks(t, "redis", "conf"), ""))
	if len(conf)%2 != 0 || !slices.Contains(conf, "noeviction") {
		t.Fatalf("settings %q", conf)
	}
	dir, err := os.MkdirTemp("", "redis") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	args := []string{"--port", "0", "--unixsocket", dir + "/s", "--dir", dir, "--logfile", dir + "/log"}
	for i := 0; i < len(conf); i += 2 {
		args = append(args, "--"+conf[i], conf[i+1])
	}
	server := exec.Command("redis-server", args...)
	if err := server.Start(); err != nil {
		t.Fatal("redis-server is not there: apt-get install redis-server (or make services): ", err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	t.Setenv("REDIS_URL", "unix://"+dir+"/s")
	from := load(t, "redis")
	store, err := redisstore.New(redisstore.Options{URL: from.URL, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(pgtest.Patience); store.Start(t.Context()) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("redis-server does not answer")
		}
	}
	decides(t, store)
	warnings, err := store.Check(t.Context())
	for _, w := range warnings {
		if !w.Note {
			t.Error(w)
		}
	}
	if err != nil || len(warnings) != 1 { // what a power failure loses
		t.Errorf("%v, %v", warnings, err)
	}
}

func TestSQLiteAsThePageSetsItUp(t *testing.T) {
	from := load(t, "sqlite")
	path := filepath.Join(t.TempDir(), filepath.Base(from.Path))
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	decides(t, store)
}
