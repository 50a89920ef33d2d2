package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A group of servers has a master that can be killed, and others that take over.
type group struct {
	block string
	kill  func()
	apart func() // from then on, nothing that the master acknowledges reaches the others
	yield func() // the master lives, and another takes over: no call need fail
}

// TestAFailoverOfRedisUnderLoad: the master dies or yields in the middle of
// creates and re-fires, and another takes over which may lack, or surely lacks,
// what the old one has last acknowledged. No fault is without a ticket, each
// double is reported, and those that no outage explains are no more than the
// tickets of the time whose writes are lost.
func TestAFailoverOfRedisUnderLoad(t *testing.T) {
	for name, c := range map[string]struct {
		begin         func(t *testing.T) group
		lossy, yields bool
	}{
		"sentinel, and the last second is lost":                   {begin: sentinels, lossy: true},
		"sentinel, whose master yields and loses the last second": {begin: sentinels, lossy: true, yields: true},
		"cluster": {begin: cluster},
	} {
		t.Run(name, func(t *testing.T) {
			g := c.begin(t)
			d := newDesk(t)
			d.delay.Store(int64(5 * time.Millisecond))
			pair := troubledPair(t, d, g.block)
			load := startLoad(t, d, pair)
			time.Sleep(sizedTime(2*time.Second, 20*time.Second)) // of good weather
			second := d.creates.Load()
			if c.lossy {
				g.apart()
			}
			time.Sleep(time.Second)
			if c.yields {
				g.yield()
			} else {
				g.kill()
			}
			second = d.creates.Load() - second
			if !c.yields {
				waitFor(t, "a create without the store", func() bool { return provisional(pair) > 0 })
			}
			waitFor(t, "the losses to be seen", func() bool { return !c.lossy || restored(pair) > 0 })
			waitFor(t, "the store to be back", func() bool { return provisional(pair) == 0 })
			load.end()
			load.again()
			waitFor(t, "the last return", func() bool { return provisional(pair) == 0 })
			waitForDoubles(t, load)
			doubles, reported := judgeDoubles(t, load)
			allowed := doublesBesideOutages(pair)
			t.Logf("%d doubles, %d reported, %d of them of creates that the store had allowed; %d tickets in the second before; %d lost records taken over again",
				doubles, reported, allowed, second, restored(pair))
			if int64(allowed) > second {
				t.Errorf("%d doubles of creates that the store had allowed; %d tickets in the second before", allowed, second)
			}
		})
	}
}

// waitForDoubles waits until as many are reported as there are: the newest
// records are compared one after the other.
func waitForDoubles(t *testing.T, l *load) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		doubles := 0
		for i := range l.faults.Load() {
			doubles += max(0, len(l.desk.of(l.name(i)))-1)
		}
		if doubles <= len(reportedOf(l.pair)) || time.Now().After(deadline) {
			return
		}
	}
}

var (
	lineOfCreate   = regexp.MustCompile(`msg=create rule=faults reason=(\w+) key=(\S+)`)
	lineOfOutcome  = regexp.MustCompile(`msg=outcome rule=faults key=(\S+) outcome=created`)
	lineOfRestored = regexp.MustCompile(`has lost what it had acknowledged.* records=(\d+)`)
)

// doublesBesideOutages counts the tickets of one fault that a store which was
// there had allowed, but the first of each.
func doublesBesideOutages(pair []*sidecar) (doubles int) {
	tickets := map[string]int{}
	for _, s := range pair {
		reasons := map[string]string{}
		for line := range strings.SplitSeq(s.log.String(), "\n") {
			if m := lineOfCreate.FindStringSubmatch(line); m != nil {
				reasons[m[2]] = m[1]
			} else if m := lineOfOutcome.FindStringSubmatch(line); m != nil && reasons[m[1]] != "store_down" {
				tickets[m[1]]++
			}
		}
	}
	for _, n := range tickets {
		doubles += n - 1
	}
	return doubles
}

// restored counts the records that the store had lost.
func restored(pair []*sidecar) (records int) {
	for _, s := range pair {
		for _, m := range lineOfRestored.FindAllStringSubmatch(s.log.String(), -1) {
			n, _ := strconv.Atoi(m[1]) // digits
			records += n
		}
	}
	return records
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

func sentinels(t *testing.T) group {
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
	return group{
		block: fmt.Sprintf("store \"redis\" {\n sentinel = { master = \"faults\", addresses = \"127.0.0.1:%s\" }\n}\n", watcher),
		kill:  func() { first.Process.Kill() },
		yield: func() {
			askRedis(watcher, "sentinel", "failover", "faults")
			waitFor(t, "the master to yield", func() bool {
				return strings.HasSuffix(askRedis(watcher, "sentinel", "get-master-addr-by-name", "faults"), replica)
			})
		},
		apart: func() { // the master has no password, and refuses those who come with one
			askRedis(replica, "config", "set", "masterauth", "another")
			askRedis(replica, "client", "kill", "type", "master")
			waitFor(t, "the replica to be apart", func() bool {
				return strings.Contains(askRedis(replica, "info", "replication"), "master_link_status:down")
			})
		},
	}
}

func cluster(t *testing.T) group {
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
	return group{
		block: fmt.Sprintf("store \"redis\" {\n cluster = [\"127.0.0.1:%s\", \"127.0.0.1:%s\"]\n}\n", ports[1], ports[2]),
		kill:  func() { nodes[0].Process.Kill() },
	}
}
