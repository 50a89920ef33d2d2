package redisstore_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"oneticket/dedup/redisstore"
)

// sentinel watches the master and deposes it after half a second of silence.
func sentinel(t *testing.T, master *server) (addr string) {
	t.Helper()
	s := newServer(t)
	config := filepath.Join(s.dir, "sentinel.conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nlogfile %s/log\n"+
		"sentinel monitor faults 127.0.0.1 %s 1\nsentinel down-after-milliseconds faults 500\nsentinel failover-timeout faults 5000\n",
		s.port(), s.dir, s.dir, master.port())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("redis-server", config, "--sentinel")
	cmd.SysProcAttr = child()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(cmd) })
	c := redis.NewSentinelClient(&redis.Options{Addr: s.addr, MaxRetries: -1})
	t.Cleanup(func() { c.Close() })
	eventually(t, "the Sentinel knows the replica", func() bool {
		replicas, err := c.Replicas(t.Context(), "faults").Result()
		return err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok" && replicas[0]["slave-priority"] == "100"
	})
	return s.addr
}

func TestAFailoverKeepsWhatWasReplicated(t *testing.T) {
	master := serve(t, "--repl-diskless-sync-delay", "0")
	replica := serve(t, "--replicaof", "127.0.0.1 "+master.port())
	following(master)
	addr := sentinel(t, master)
	var others atomic.Int64
	store := open(t, redisstore.Options{
		Sentinel: redisstore.Sentinel{Master: "faults", Addrs: []string{addr}}, Timeout: time.Second,
		Watch: 20 * time.Millisecond, OnOther: func() { others.Add(1) }})
	ref := refOf("before")
	rec := opened(t, store, ref)
	if n := master.calls("evalsha"); n < 2 {
		t.Fatalf("the master got %d calls", n)
	}
	master.do("WAIT", 1, 10_000)
	began, _, err := store.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	if n := others.Load(); n != 0 {
		t.Errorf("there was no other server, and %d are told of", n)
	}
	master.kill()
	eventually(t, "the replica takes over", func() bool { return refusedClaim(store, refOf("after")) == nil })
	found, err := store.Claim(t.Context(), ref, offerOf("other", ref))
	if err != nil || found.Won || found.Record.Version != rec.Version || found.Record.Response == nil {
		t.Errorf("the ticket from before: %+v, %v", found, err)
	}
	if now, changed, err := store.Epoch(t.Context()); now != began || changed || err != nil {
		t.Errorf("epoch %q, changed %v, %v", now, changed, err)
	}
	eventually(t, "the other server is told of", func() bool { return others.Load() == 1 })
	if n := replica.calls("evalsha"); n == 0 {
		t.Error("the replica got no call")
	}
}

func TestSentinelsThatDoNotAnswerAreNamed(t *testing.T) {
	addr := freeAddr(t)
	_, err := redisstore.Open(t.Context(), redisstore.Options{Sentinel: redisstore.Sentinel{Master: "faults", Addrs: []string{addr}}})
	mentions(t, err, "faults of "+addr)
}
