package clients_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oneticket/extproc/envoy/envoytest"
)

// built is the oneticket under test, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "oneticket-clients")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "oneticket")
	out, err := exec.Command("go", "build", "-o", binary, "oneticket/cmd/oneticket").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if binary, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(binary))
	}
	if ca, err := certified(); err == nil {
		os.RemoveAll(ca.dir)
	}
	os.Exit(status)
}

// soak reports whether the sizes are those of `make soak`.
func soak() bool { return os.Getenv("ONETICKET_SOAK") != "" }

// A stage is the ticket systems, and one oneticket with its Envoy before them.
type stage struct {
	t     *testing.T
	dir   string
	admin string
	desks map[string]*desk  // by system
	urls  map[string]string // of the listener that stands in for it, by system
	log   bytes.Buffer
}

// newStage starts all of it, the ticket systems only when up is true.
func newStage(t *testing.T, up bool) *stage {
	dir, err := os.MkdirTemp("", "ot") // short: there are sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &stage{t: t, dir: dir, admin: freeAddress(t), desks: map[string]*desk{}, urls: map[string]string{}}
	ca := authorised(t)
	env := append(os.Environ(), "STATE_DIR="+dir, "ADMIN="+s.admin, "CERT="+ca.cert, "KEY="+ca.key)
	for name, sys := range systems {
		d, listen := newDesk(t, sys.routes), freeAddress(t)
		backend := d.Listener.Addr().String()
		if up {
			d.Start()
		} else {
			backend = freeAddress(t)
			d.Config.Addr = backend
		}
		s.desks[name], s.urls[name] = d, "http://"+listen
		if sys.secure {
			s.urls[name] = "https://" + listen
		}
		upper := strings.ToUpper(name)
		env = append(env, upper+"_URL=http://"+backend, upper+"_LISTEN="+listen)
	}
	s.run(env)
	return s
}

// open lets ticket systems listen that did not.
func (s *stage) open() {
	for name, d := range s.desks {
		until(s.t, name+" listens", func() bool { // its port may be somebody's for a moment
			l, err := net.Listen("tcp", d.Config.Addr)
			if err != nil {
				return false
			}
			d.Listener.Close()
			d.Listener = l
			d.Start()
			return true
		})
	}
}

// run starts oneticket and waits until it is ready; it ends with the test.
func (s *stage) run(env []string) {
	s.t.Helper()
	binary, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(binary, "run", "-c", "oneticket.hcl", "--envoy", envoytest.Path(s.t))
	cmd.Env, cmd.Stderr = env, &s.log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		if s.t.Failed() {
			s.t.Logf("oneticket's log:\n%s", &s.log)
		}
	})
	ready := until(s.t, "oneticket is ready", func() bool {
		select {
		case <-ended:
			s.t.Fatal("oneticket has ended")
		default:
		}
		_, err := get(http.DefaultClient, "http://"+s.admin+"/ready")
		return err == nil
	})
	if !ready {
		s.t.FailNow()
	}
}

// refused is how many connections Envoy could not make.
func (s *stage) refused() (sum int) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(s.dir, "envoy.sock"))
	}
	text, err := get(&http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
		"http://envoy/stats?filter=upstream_cx_connect_fail$")
	if err != nil {
		s.t.Error(err)
	}
	for line := range strings.Lines(text) {
		var n int
		_, count, _ := strings.Cut(line, ": ")
		_, _ = fmt.Sscan(count, &n) // a line without a number counts none
		sum += n
	}
	return sum
}

// taken are the ports that were given away: many are, long before somebody
// listens there.
var taken sync.Map

// freeAddress is below the ports that the kernel gives to outgoing connections,
// which would take it before somebody listens there.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(17000))
		if _, given := taken.LoadOrStore(address, true); given {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer l.Close()
		return address
	}
	t.Fatal("no free port between 15000 and 32000")
	return ""
}

func get(client *http.Client, url string) (string, error) {
	res, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, res.Status)
	}
	return string(text), err
}

// until asks until it is true, for a minute.
func until(t *testing.T, what string, ask func() bool) bool {
	for range int(time.Minute / pollEvery) {
		if ask() {
			return true
		}
		time.Sleep(pollEvery)
	}
	t.Errorf("not within a minute: %s", what)
	return false
}

const pollEvery = 20 * time.Millisecond
