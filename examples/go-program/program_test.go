package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oneticket/dedup/pgstore/pgtest"
)

// built is the program, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "go-program")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "go-program")
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w: %s", err, out)
	}
	return binary, err
})

func TestMain(m *testing.M) {
	status := m.Run()
	if binary, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(status)
}

// A process is one running program.
type process struct {
	*testing.T
	cmd *exec.Cmd
	url string
}

func start(t *testing.T, b *bank, store string) *process {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{T: t, cmd: exec.Command(binary, "-listen", "127.0.0.1:0", "-bank", b.URL, "-store", store, "-lease", "2s")}
	said, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(said).ReadString('\n')
	url, ready := strings.CutPrefix(strings.TrimSpace(line), "payments at ")
	if !ready {
		t.Fatalf("it says %q, %v", line, err)
	}
	p.url = url
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// pay sends one payment; status 0 is a connection that broke.
func (p *process) pay(key, order string) (status int, text string, replayed bool) {
	req, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader(order))
	if err != nil {
		p.Error(err)
		return
	}
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error(), false
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode, strings.TrimSpace(string(body)), res.Header.Get("Idempotent-Replayed") == "true"
}

func (p *process) wants(key, order string, status int, text string) {
	p.Helper()
	if got, said, _ := p.pay(key, order); got != status || !strings.Contains(said, text) {
		p.Errorf("%s with key %s: %d %q, want %d %q", order, key, got, said, status, text)
	}
}

// stores are where two processes may keep their keys. A new one is a line.
var stores = map[string]func(*testing.T) string{
	"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "payments.db") },
	"redis":    startRedis,
	"postgres": func(t *testing.T) string { return pgtest.For(t).SocketURL() },
}

func TestPaymentsAreMadeOnce(t *testing.T) {
	for name, where := range stores {
		t.Run(name, func(t *testing.T) {
			b, store := newBank(t), where(t)
			pair := []*process{start(t, b, store), start(t, b, store)}
			var replays atomic.Int64
			var clients sync.WaitGroup
			for i := range 20 {
				clients.Go(func() {
					status, text, replayed := pair[i%2].pay("one", `{"order":1}`)
					if status != 201 || text != "receipt 1" {
						t.Errorf("%d %q", status, text)
					}
					if replayed {
						replays.Add(1)
					}
				})
			}
			clients.Wait()
			if b.of(`{"order":1}`) != 1 || replays.Load() != 19 {
				t.Errorf("charged %d times, %d replays", b.of(`{"order":1}`), replays.Load())
			}
			pair[0].wants("", `{"order":1}`, 400, "Idempotency-Key")
			pair[1].wants("one", `{"order": 1 }`, 201, "receipt 1")
			pair[1].wants("one", `{"order":2}`, 422, "another order")
			pair[0].wants("two", `{"order":"poor"}`, 402, "declined")
			pair[1].wants("two", `{"order":"poor"}`, 201, "receipt 2") // a refusal is not kept
			pair[0].wants("three", `{"order":"silent"}`, 503, "")
			pair[1].wants("three", `{"order":"silent"}`, 409, "a person has to look")
			if n := b.of(`{"order":"silent"}`); n != 1 {
				t.Errorf("charged %d times although nobody knows of the first", n)
			}
		})
	}
}

// TestAProcessThatDiesWhileTheBankWorksLeavesADoubt, and no second charge.
func TestAProcessThatDiesWhileTheBankWorksLeavesADoubt(t *testing.T) {
	const order = `{"order":"slow"}`
	for name, where := range stores {
		t.Run(name, func(t *testing.T) {
			b, store := newBank(t), where(t)
			victim, other := start(t, b, store), start(t, b, store)
			var client sync.WaitGroup
			client.Go(func() {
				if status, text, _ := victim.pay("key", order); status != 0 {
					t.Errorf("of a process that was killed: %d %q", status, text)
				}
			})
			select {
			case <-b.reached:
			case <-time.After(30 * time.Second):
				t.Fatal("the bank was not asked")
			}
			victim.kill()
			client.Wait()
			deadline := time.Now().Add(30 * time.Second)
			for status, text, _ := other.pay("key", order); !strings.Contains(text, "a person has to look"); status, text, _ = other.pay("key", order) {
				if status != 409 || time.Now().After(deadline) {
					t.Fatalf("%d %q", status, text)
				}
			}
			b.release()
			start(t, b, store).wants("key", order, 409, "a person has to look")
			if n := b.of(order); n != 1 {
				t.Errorf("charged %d times", n)
			}
		})
	}
}

// startRedis runs a server and returns its URL.
func startRedis(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("no redis-server: run `make services`, or apt-get install redis-server")
	}
	port := freePort(t)
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); exec.Command("redis-cli", "-p", port, "ping").Run() != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("redis-server does not answer")
		}
	}
	return "redis://127.0.0.1:" + port
}
