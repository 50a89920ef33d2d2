package clients_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A pair is two Alertmanagers, of which each is told of every alert.
type pair struct {
	t       *testing.T
	fault   string
	urls    []string
	queries map[string]int // how often each had asked its own log before it was told the last thing
}

// startPair starts two that know of each other, or that do not.
func (s *stage) startPair(t *testing.T, fault string, clustered bool) *pair {
	p := &pair{t: t, fault: fault}
	gossip := []string{freeAddress(t), freeAddress(t)}
	for i := range 2 {
		address := freeAddress(t)
		args := []string{"--cluster.listen-address="}
		if clustered {
			// The second one waits peer-timeout between looking at a group and
			// saying what it was like, which may be no longer true by then.
			args = []string{"--cluster.listen-address=" + gossip[i], "--cluster.peer=" + gossip[1-i], "--cluster.peer-timeout=1ms",
				"--cluster.gossip-interval=50ms", "--cluster.settle-timeout=2s"}
		}
		s.startAlertmanager(t, slices.Concat(args, []string{"--web.listen-address=" + address, "--log.level=error"}))
		p.urls = append(p.urls, "http://"+address)
	}
	for _, url := range p.urls {
		until(t, "an Alertmanager is ready", func() bool {
			status, err := get(http.DefaultClient, url+"/api/v2/status")
			return err == nil && (!clustered || strings.Count(status, `"address"`) == 2)
		})
	}
	return p
}

func (s *stage) startAlertmanager(t *testing.T, args []string) {
	binary, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		t.Fatalf("no Alertmanager to test with, run `make services`: %v", err)
	}
	template, err := os.ReadFile("alertmanager.yml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	filled := strings.NewReplacer("OPSGENIE", s.urls["opsgenie"], "PAGERDUTY", s.urls["pagerduty"], "HOOKS", s.urls["hooks"], "CA", authorised(t).ca).Replace(string(template))
	file := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(file, []byte(filled), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(binary, append(args, "--config.file="+file, "--storage.path="+dir)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("an Alertmanager's log:\n%s", &log)
		}
	})
}

// tell tells both of the alerts, by severity: true is one that fires.
func (p *pair) tell(firing map[string]bool) {
	var alerts []object
	for severity, fires := range firing {
		a := object{
			"labels": object{"alertname": "Disk", "host": p.fault, "severity": severity}, "startsAt": time.Now().Add(-time.Minute).Format(time.RFC3339Nano),
			"generatorURL": "http://prometheus/graph",
		}
		if !fires {
			a["endsAt"] = time.Now().Format(time.RFC3339Nano)
		}
		alerts = append(alerts, a)
	}
	body, err := json.Marshal(alerts)
	if err != nil {
		p.t.Fatal(err)
	}
	p.queries = map[string]int{}
	for _, url := range p.urls {
		p.queries[url] = p.number(url, "alertmanager_nflog_queries_total")
		res, err := http.Post(url+"/api/v2/alerts", "application/json", bytes.NewReader(body))
		if err != nil {
			p.t.Error(err)
			continue
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			p.t.Errorf("an Alertmanager answers %s", res.Status)
		}
	}
}

// agree waits until both have said what they were told last: what one says
// later would be news of an old state. Each asks its log once for each receiver
// whenever it looks at a group, and one look is over when the next begins.
func (p *pair) agree() {
	p.t.Helper()
	for _, url := range p.urls {
		until(p.t, url+" has looked at the group", func() bool { return p.looks(url) >= 3*len(receivers) })
	}
}

// agreeOnTheEnd is agree for a group that is over: that is looked at once more,
// and then never again.
func (p *pair) agreeOnTheEnd() {
	p.t.Helper()
	for _, url := range p.urls {
		until(p.t, url+" has looked at the group for the last time", func() bool {
			looks := p.looks(url)
			time.Sleep(5 * groupInterval)
			return looks >= len(receivers) && p.looks(url) == looks
		})
	}
}

// groupInterval is how often a group is looked at, see alertmanager.yml.
const groupInterval = 300 * time.Millisecond

// looks counts since it was told the last thing.
func (p *pair) looks(url string) int {
	return p.number(url, "alertmanager_nflog_queries_total") - p.queries[url]
}

// number reads one of an Alertmanager's own metrics.
func (p *pair) number(url, name string) int {
	text, err := get(http.DefaultClient, url+"/metrics")
	if err != nil {
		p.t.Error(err)
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64) // theirs
			return int(n)
		}
	}
	return -1
}

// receivers are the systems that an Alertmanager sends to, and what the worst
// severity is called there.
var receivers = map[string]string{"hooks": "critical", "pagerduty": "critical", "opsgenie": "P1"}

// TestTwoAlertmanagersOpenOneTicket: of the pair, each sends every group, which
// is a ticket each; clustered, the second one mostly knows of the first. Each of
// the three systems has one ticket, which becomes worse and ends with the group.
func TestTwoAlertmanagersOpenOneTicket(t *testing.T) {
	t.Parallel()
	for name, clustered := range map[string]bool{"split": false, "active-active": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			p := s.startPair(t, "am."+name, clustered)
			p.tell(map[string]bool{"warning": true})
			s.come(t, p, "one open ticket", func(_ string, all []ticket) bool { return len(all) == 1 && !all[0].done })
			p.agree()
			p.tell(map[string]bool{"warning": false, "critical": true})
			s.come(t, p, "the ticket is worse", func(system string, all []ticket) bool { return len(all) == 1 && all[0].severity == receivers[system] })
			p.agree()
			p.tell(map[string]bool{"critical": false})
			s.come(t, p, "the ticket is closed", func(_ string, all []ticket) bool { return len(all) == 1 && all[0].done })
			p.agreeOnTheEnd()
			p.tell(map[string]bool{"warning": true})
			p.agree()
			s.come(t, p, "the next fault has a ticket", func(_ string, all []ticket) bool { return len(all) == 2 && !all[1].done })
			if said := s.decided(t, "groups"); !clustered && said < 8 {
				t.Errorf("the two have sent %d groups, want 4 each: the test shows nothing", said)
			}
			for system := range receivers {
				tickets, creates := s.desks[system].of(p.fault)
				t.Logf("%s: %d creates reached it, %d tickets", system, creates, len(tickets))
			}
		})
	}
}

// come waits until the tickets of the pair's fault are so at each receiver.
func (s *stage) come(t *testing.T, p *pair, what string, so func(system string, tickets []ticket) bool) {
	t.Helper()
	for system := range receivers {
		if !until(t, fmt.Sprintf("%s at %s", what, system), func() bool { all, _ := s.desks[system].of(p.fault); return so(system, all) }) {
			all, creates := s.desks[system].of(p.fault)
			t.Fatalf("%s: %d creates, tickets %+v", system, creates, all)
		}
	}
}

// decided is how many decisions there were of the rule.
func (s *stage) decided(t *testing.T, rule string) int {
	text, err := get(http.DefaultClient, "http://"+s.admin+"/metrics")
	if err != nil {
		t.Error(err)
	}
	return decisions(text, rule)
}

// decisions is how many there were of the rule.
func decisions(metrics, rule string) (sum int) {
	for line := range strings.Lines(metrics) {
		if !strings.HasPrefix(line, "oneticket_decisions_total{") || !strings.Contains(line, `rule="`+rule+`"`) {
			continue
		}
		var n int
		_, _ = fmt.Sscan(line[strings.LastIndex(line, " "):], &n) // a line without a number counts none
		sum += n
	}
	return sum
}
