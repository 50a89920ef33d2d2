package redisstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
	"oneticket/dedup/storetest"
)

// cluster starts three masters that share the slots.
func cluster(t testing.TB) []*server {
	t.Helper()
	var nodes []*server
	for range 3 {
		// The bus has a port of its own, which is freed like the first.
		bus := newServer(t).port()
		nodes = append(nodes, serve(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "60000"))
	}
	for i, slots := range [][2]int{{0, 5460}, {5461, 10922}, {10923, 16383}} {
		nodes[i].do("CLUSTER", "ADDSLOTSRANGE", slots[0], slots[1])
	}
	for _, n := range nodes[1:] {
		nodes[0].do("CLUSTER", "MEET", "127.0.0.1", n.port(), n.args[3])
	}
	for _, n := range nodes {
		n.eventually("the cluster is whole", func() bool {
			info := fmt.Sprint(n.do("CLUSTER", "INFO"))
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_size:3")
		})
	}
	return nodes
}

func clusterOptions(nodes []*server) redisstore.Options {
	var addrs []string
	for _, n := range nodes {
		addrs = append(addrs, n.addr)
	}
	return redisstore.Options{Cluster: addrs}
}

// TestInACluster tells all stories to one cluster; the last one empties it.
func TestInACluster(t *testing.T) {
	nodes := cluster(t)
	t.Run("the contract holds", func(t *testing.T) { storetest.Run(t, harness(clusterOptions(nodes), nodes...)) })
	t.Run("calls are linearizable while masters are frozen", func(t *testing.T) { frozenInTurn(t, nodes) })
	t.Run("a probe asks every master", func(t *testing.T) { probedInTurn(t, nodes) })
	t.Run("the documented rights are enough", func(t *testing.T) { rightsInACluster(t, nodes) })
	t.Run("one of its servers is not mistaken for a single one", func(t *testing.T) { oneOfMany(t, nodes[0]) })
	t.Run("one master that is emptied is noticed", func(t *testing.T) { emptiedInTurn(t, nodes) })
	t.Run("records lie on every master", func(t *testing.T) { spread(t, nodes) })
}

func probedInTurn(t *testing.T, nodes []*server) {
	o := clusterOptions(nodes)
	o.Timeout = time.Second
	store := open(t, o)
	for _, n := range nodes {
		if err := store.Probe(t.Context()); err != nil {
			t.Errorf("all are well: %v", err)
		}
		thaw := n.freeze()
		if store.Probe(t.Context()) == nil {
			t.Errorf("%s is frozen, and the probe has not noticed", n.addr)
		}
		thaw()
		eventually(t, "the probe is well again", func() bool { return store.Probe(t.Context()) == nil })
	}
}

func rightsInACluster(t *testing.T, nodes []*server) {
	for _, n := range nodes {
		n.do(append([]any{"ACL", "SETUSER", "oneticket", "on", ">secret", "resetkeys", "-@all"}, rights(t)...)...)
	}
	o := clusterOptions(nodes)
	o.URL = "redis://oneticket:secret@"
	store := open(t, o)
	opened(t, store, refOf("one"))
	if err := store.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if live, err := store.Live(t.Context(), 10_000); err != nil || live["network_faults"] != 1 {
		t.Fatalf("live %v, %v", live, err)
	}
	told(t, store, []string{"appendonly is no"})
}

func oneOfMany(t *testing.T, node *server) {
	store, err := redisstore.New(redisstore.Options{URL: node.url()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var last error
	for i := range 64 {
		if err := refusedClaim(store, refOf(fmt.Sprint(i))); err != nil {
			last = err
		}
	}
	mentions(t, last, "MOVED", "name its nodes in cluster")
}

func emptiedInTurn(t *testing.T, nodes []*server) {
	for _, n := range nodes {
		flushed := make(chan redisstore.Flush, 1)
		o := clusterOptions(nodes)
		o.Watch, o.OnFlush = 10*time.Millisecond, func(f redisstore.Flush) { flushed <- f }
		store := open(t, o)
		n.do("FLUSHALL")
		noticed(t, flushed)
		store.Close()
	}
}

func spread(t *testing.T, nodes []*server) {
	o := clusterOptions(nodes)
	o.Cluster = o.Cluster[:1] // one is enough to find the others
	store := open(t, o)
	before := map[*server]int64{}
	for _, n := range nodes {
		before[n] = n.do("DBSIZE").(int64)
	}
	for i := range 64 {
		claimed(t, store, refOf(fmt.Sprint("spread-", i)))
	}
	for _, n := range nodes {
		if more := n.do("DBSIZE").(int64) - before[n]; more < 2 {
			t.Errorf("%s has %d of 64 records", n.addr, more)
		}
	}
	listed := 0
	if err := store.List(t.Context(), "", func(dedup.Ref, dedup.Record) bool { listed++; return true }); err != nil || listed != 64 {
		t.Fatalf("%d are listed, %v", listed, err)
	}
}
