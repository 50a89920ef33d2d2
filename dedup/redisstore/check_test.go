package redisstore_test

import (
	"strings"
	"testing"

	"oneticket/dedup/redisstore"
)

func TestSettingsThatMayLoseRecordsAreTold(t *testing.T) {
	safe := []string{"--appendonly", "yes", "--appendfsync", "always"}
	for name, c := range map[string]struct {
		args []string
		want []string // what each warning is about, in order
	}{
		"nothing to say":             {safe, nil},
		"the least loss is a note":   {[]string{"--appendonly", "yes"}, []string{"appendfsync is everysec"}},
		"never synced":               {[]string{"--appendonly", "yes", "--appendfsync", "no"}, []string{"appendfsync is no"}},
		"nothing on the disk":        {nil, []string{"appendonly is no and save is empty"}},
		"snapshots only":             {[]string{"--save", "3600 1"}, []string{"appendonly is no"}},
		"records may be evicted":     {append([]string{"--maxmemory", "64mb", "--maxmemory-policy", "volatile-lru"}, safe...), []string{"maxmemory-policy is volatile-lru"}},
		"a bound that evicts nobody": {append([]string{"--maxmemory", "64mb"}, safe...), nil},
		"a policy without a bound":   {append([]string{"--maxmemory-policy", "allkeys-lru"}, safe...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.args...)
			store := open(t, redisstore.Options{URL: s.url()})
			told(t, store, c.want)
		})
	}
}

func told(t *testing.T, store *redisstore.Store, want []string) {
	t.Helper()
	warnings, err := store.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != len(want) {
		t.Fatalf("warnings %v, want %q", warnings, want)
	}
	for i, w := range warnings {
		if !strings.HasPrefix(w.Found, want[i]) || w.Lost == "" || w.Set == "" {
			t.Errorf("%v, want %q", w, want[i])
		}
		if note := w.Found == "appendfsync is everysec"; w.Note != note {
			t.Errorf("%v: note %v", w, w.Note)
		}
	}
}

func TestAMasterThatNeedsNoReplicaIsTold(t *testing.T) {
	master := serve(t, "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")
	replica := serve(t, "--appendonly", "yes", "--appendfsync", "always", "--replicaof", "127.0.0.1 "+master.port())
	following(master)
	told(t, open(t, redisstore.Options{URL: master.url()}), []string{"min-replicas-to-write is 0 with 1 replicas"})
	master.do("CONFIG", "SET", "min-replicas-to-write", "1")
	told(t, open(t, redisstore.Options{URL: master.url()}), nil)

	store, err := redisstore.New(redisstore.Options{URL: replica.url()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	told(t, store, []string{"this server is a replica"})
}

// following waits until the master has a replica that is in step.
func following(master *server) {
	master.eventually("the replica follows", func() bool {
		text, _ := master.do("INFO", "replication").(string)
		return strings.Contains(text, "state=online")
	})
}

func TestWhatMayNotBeReadIsTold(t *testing.T) {
	s := serve(t)
	s.do("ACL", "SETUSER", "default", "-config", "-info")
	told(t, open(t, redisstore.Options{URL: s.url()}), []string{"INFO and CONFIG GET is refused"})
	s.do("ACL", "SETUSER", "default", "+info")
	told(t, open(t, redisstore.Options{URL: s.url()}), []string{"appendonly is no", "CONFIG GET is refused"})
}
