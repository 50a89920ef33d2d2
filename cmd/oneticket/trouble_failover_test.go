package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAFailoverOfRedisUnderLoad: the master dies in the middle of creates and
// re-fires, and another takes over which may lack what the dead one had last
// acknowledged. No fault is without a ticket, the doubles are no more than the
// tickets of the last second before, and each of them is reported.
func TestAFailoverOfRedisUnderLoad(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T) (block string, kill func()){
		"sentinel": sentinels,
		"cluster":  cluster,
	} {
		t.Run(name, func(t *testing.T) {
			block, kill := begin(t)
			d := newDesk(t)
			d.delay.Store(int64(5 * time.Millisecond))
			pair := make([]*sidecar, 2)
			for i := range pair {
				pair[i] = newSidecar(t, d, "", block+"in_flight {\n wait = \"2s\"\n lease = \"6s\"\n}\n")
				pair[i].start()
			}
			load := startLoad(t, d, pair)
			time.Sleep(sizedTime(2*time.Second, 20*time.Second)) // of good weather
			second := d.creates.Load()
			time.Sleep(time.Second)
			kill()
			second = d.creates.Load() - second
			waitFor(t, "a create without the store", func() bool { return provisional(pair) > 0 })
			waitFor(t, "the store to be back", func() bool { return provisional(pair) == 0 })
			time.Sleep(sizedTime(2*time.Second, 20*time.Second)) // in which every fault fires again
			load.end()
			waitFor(t, "the last return", func() bool { return provisional(pair) == 0 })
			doubles, reported := judgeDoubles(t, load)
			provisionals := reportedOf(pair, "taken_over") // creates of the outage itself may double too
			t.Logf("%d doubles, %v of them reported; %d tickets in the second before, %v taken over from the outage", doubles, reported, second, provisionals)
		})
	}
}

// aRedis runs a redis-server with the arguments until the test ends.
func aRedis(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("no redis-server: run `make services`, or apt-get install redis-server")
	}
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// askRedis is what the server at the port answers.
func askRedis(port string, args ...string) string {
	out, _ := exec.Command("redis-cli", append([]string{"-p", port}, args...)...).Output() // an error is an answer that nobody waits for
	return strings.TrimSpace(string(out))
}

func freePort(t *testing.T) string {
	_, port, _ := strings.Cut(freeAddress(t), ":")
	return port
}

func sentinels(t *testing.T) (block string, kill func()) {
	master, replica, watcher := freePort(t), freePort(t), freePort(t)
	common := []string{"--bind", "127.0.0.1", "--save", "", "--loglevel", "warning", "--repl-diskless-sync-delay", "0"}
	first := aRedis(t, append(common, "--port", master, "--dir", t.TempDir())...)
	waitFor(t, "the master", func() bool { return askRedis(master, "ping") == "PONG" })
	aRedis(t, append(common, "--port", replica, "--dir", t.TempDir(), "--replicaof", "127.0.0.1 "+master)...)
	waitFor(t, "the replica", func() bool {
		return strings.Contains(askRedis(replica, "info", "replication"), "master_link_status:up")
	})
	dir := t.TempDir()
	config := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor faults 127.0.0.1 %s 1\n"+
		"sentinel down-after-milliseconds faults 1000\nsentinel failover-timeout faults 5000\n", watcher, dir, master)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	aRedis(t, config, "--sentinel")
	waitFor(t, "the sentinel to know the replica", func() bool { return strings.Contains(askRedis(watcher, "sentinel", "replicas", "faults"), replica) })
	block = fmt.Sprintf("store \"redis\" {\n sentinel = { master = \"faults\", addresses = \"127.0.0.1:%s\" }\n}\n", watcher)
	return block, func() { first.Process.Kill() }
}

func cluster(t *testing.T) (block string, kill func()) {
	var ports, buses []string
	var nodes []*exec.Cmd
	for range 6 {
		port, bus := freePort(t), freePort(t)
		nodes = append(nodes, aRedis(t, "--bind", "127.0.0.1", "--port", port, "--cluster-port", bus, "--dir", t.TempDir(), "--save", "",
			"--loglevel", "warning", "--repl-diskless-sync-delay", "0", "--cluster-enabled", "yes", "--cluster-node-timeout", "1000"))
		waitFor(t, "a node", func() bool { return askRedis(port, "ping") == "PONG" })
		ports, buses = append(ports, port), append(buses, bus)
	}
	for i, slots := range [][2]string{{"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}} {
		askRedis(ports[i], "cluster", "addslotsrange", slots[0], slots[1])
	}
	for i := range ports[1:] {
		askRedis(ports[0], "cluster", "meet", "127.0.0.1", ports[i+1], buses[i+1])
	}
	waitFor(t, "the nodes to know each other", func() bool {
		for _, port := range ports {
			if !strings.Contains(askRedis(port, "cluster", "info"), "cluster_known_nodes:6") {
				return false
			}
		}
		return true
	})
	for i := range 3 {
		id := askRedis(ports[i], "cluster", "myid")
		waitFor(t, "a replica to follow", func() bool { return askRedis(ports[i+3], "cluster", "replicate", id) == "OK" })
		waitFor(t, "a replica to be whole", func() bool {
			return strings.Contains(askRedis(ports[i+3], "info", "replication"), "master_link_status:up")
		})
	}
	waitFor(t, "the cluster", func() bool { return strings.Contains(askRedis(ports[0], "cluster", "info"), "cluster_state:ok") })
	block = fmt.Sprintf("store \"redis\" {\n cluster = [\"127.0.0.1:%s\", \"127.0.0.1:%s\"]\n}\n", ports[1], ports[2])
	return block, func() { nodes[0].Process.Kill() }
}
