package clients_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client is one program that opens tickets, as it is out there.
type client struct {
	name    string
	system  string
	command []string
	env     []string
	usual   string // severities, in the system's words
	worse   string
	more    bool   // its troubles are those of another one here: they are played in `make soak`
	again   bool   // it sends a create again that it had no answer to in time
	graded  string // the worse one as the ticket has it, where that is another word
	mute    bool   // it is told whether its create was taken, and of no ticket
	byFault bool   // its resolve names the fault, not the ticket
	deaf    bool   // it has no resolve that its system understands
}

var clients = []client{
	{name: "jira", system: "jira", command: python("jira_client.py"), usual: "High", worse: "Highest"},
	{name: "zenpy", system: "zendesk", command: python("zenpy_client.py"), usual: "high", worse: "urgent"},
	{name: "pysnow", system: "servicenow", command: python("pysnow_client.py"), usual: "2", worse: "1"},
	{name: "requests", system: "servicenow", command: python("requests_client.py"), usual: "2", worse: "1"},
	{name: "requests-retry", system: "servicenow", command: python("requests_client.py"), env: []string{"RETRY=1"}, usual: "2", worse: "1", again: true},
	{name: "curl", system: "servicenow", command: []string{"automation/curl.sh"}, usual: "2", worse: "1", again: true},
	{name: "wget", system: "servicenow", command: []string{"automation/wget.sh"}, usual: "2", worse: "1", again: true},
	{name: "ansible", system: "servicenow", command: []string{"automation/ansible.sh"}, usual: "2", worse: "1", again: true},
	{name: "curl-soap", system: "servicenow", command: []string{"automation/curl_soap.sh"}, usual: "2", worse: "1", again: true, more: true},
	{name: "pysnc", system: "secured", command: python("pysnc_client.py"), usual: "2", worse: "1", more: true},
	{name: "pagerduty", system: "pagerduty", command: python("pagerduty_client.py"), usual: "error", worse: "critical", again: true},
	{name: "pdpyras", system: "pagerduty", command: python("pagerduty_client.py"), env: []string{"PACKAGE=pdpyras"}, usual: "error", worse: "critical", again: true, more: true},
	{name: "pagerduty-rest", system: "incidents", command: python("pagerduty_client.py"), env: []string{"API=rest"}, usual: "low", worse: "high", again: true},
	{name: "pdpyras-rest", system: "incidents", command: python("pagerduty_client.py"), env: []string{"API=rest", "PACKAGE=pdpyras"}, usual: "low", worse: "high", again: true, more: true},
	{name: "opsgenie", system: "opsgenie", command: python("opsgenie_client.py"), usual: "P3", worse: "P1", again: true},
	{name: "redmine", system: "redmine", command: python("redmine_client.py"), usual: "2", worse: "5"},
	{name: "curl-xml", system: "redmine", command: []string{"automation/curl_xml.sh"}, usual: "2", worse: "5", again: true},
	{name: "rt1", system: "rt", command: python("rt_client.py"), env: []string{"API=rest1"}, usual: "50", worse: "100"},
	{name: "rt2", system: "rt", command: python("rt_client.py"), usual: "50", worse: "100"},
	{name: "curl-form", system: "rt", command: []string{"automation/curl_form.sh"}, usual: "50", worse: "100", again: true},
	{name: "wget-form", system: "rt", command: []string{"automation/curl_form.sh"}, env: []string{"WITH=wget"}, usual: "50", worse: "100", again: true, more: true},
	apprise("pagerduty", "pagerduty"), apprise("opsgenie", "notified"), apprise("json", "hooks"), apprise("form", "hooks"), apprise("xml", "hooks"),
}

// apprise is the client that tells of faults by one of its services. At Opsgenie
// it closes an alert by the id of a request, which Opsgenie does not know.
func apprise(service, system string) client {
	graded := map[string]string{"pagerduty": "critical", "opsgenie": "P1"}
	return client{name: "apprise-" + service, system: system, command: python("apprise_client.py"), env: []string{"TO=" + service},
		usual: "warning", worse: "failure", graded: graded[service], mute: true, byFault: true, deaf: service == "opsgenie", more: service != "pagerduty" && service != "xml"}
}

// java is not on every machine: it plays in `make soak`, which brings it.
var java = client{name: "java", system: "servicenow", command: []string{"java", "automation/Incident.java"}, usual: "2", worse: "1"}

func init() {
	if soak() {
		clients = append(clients, java)
	}
}

// part is all of them in `make soak`, else those that differ most.
func part() []client {
	if soak() {
		return clients
	}
	return slices.DeleteFunc(slices.Clone(clients), func(c client) bool { return c.more })
}

const venv = "../../.tools/clients/bin"

func python(script string) []string {
	return []string{filepath.Join(venv, "python"), filepath.Join("automation", script)}
}

// A reply is what a client says of one fault.
type reply struct {
	ticket string // "" when it was told of none
	why    string
}

// turns bounds how many clients run at a time.
var turns = make(chan struct{}, 6)

var spoken = regexp.MustCompile(`(told|failed) (\S+) ([^"\n]*)`)

// create runs the client once, for all the faults at a time.
func (c client) create(t *testing.T, url, severity string, wait time.Duration, faults ...string) map[string]reply {
	turns <- struct{}{}
	defer func() { <-turns }()
	return c.createAtOnce(t, url, severity, wait, faults...)
}

// createAtOnce waits for no turn.
func (c client) createAtOnce(t *testing.T, url, severity string, wait time.Duration, faults ...string) map[string]reply {
	out := c.run(t, wait, append([]string{"create", url, severity}, faults...)...)
	replies := map[string]reply{}
	for _, f := range faults {
		replies[f] = reply{why: "it says nothing of the fault: " + out}
	}
	for _, m := range spoken.FindAllStringSubmatch(out, -1) {
		if m[1] == "told" {
			replies[m[2]] = reply{ticket: m[3]}
		} else {
			replies[m[2]] = reply{why: m[3]}
		}
	}
	return replies
}

// one is the ticket that the client is told of when it asks for one fault.
func (c client) one(t *testing.T, url, severity, fault string) string {
	r := c.create(t, url, severity, time.Minute, fault)[fault]
	if r.ticket == "" {
		t.Errorf("%s was told of no ticket: %s", c.name, r.why)
	}
	return r.ticket
}

func (c client) resolve(t *testing.T, url, ticket string) {
	turns <- struct{}{}
	defer func() { <-turns }()
	if out := c.run(t, time.Minute, "resolve", url, ticket); !strings.Contains(out, "resolved "+ticket) {
		t.Errorf("%s does not resolve %s: %s", c.name, ticket, out)
	}
}

// run is the client as a process, and all that it prints.
func (c client) run(t *testing.T, wait time.Duration, args ...string) string {
	tools, err := filepath.Abs(venv)
	if err == nil {
		_, err = os.Stat(filepath.Join(tools, "python"))
	}
	if err != nil {
		t.Errorf("no clients to test with, run `make clients`: %v", err)
		return ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command[0], slices.Concat(c.command[1:], args)...)
	cmd.WaitDelay = time.Second // its own children hold its output open
	ca := authorised(t)
	cmd.Env = slices.Concat(os.Environ(), c.env, []string{
		"TIMEOUT=" + strconv.Itoa(int(wait.Seconds())), "PATH=" + tools + ":" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(), "NO_PROXY=*", "no_proxy=*", "PYTHONDONTWRITEBYTECODE=1", "ANSIBLE_NOCOLOR=1",
		"SSL_CERT_FILE=" + ca.ca, "REQUESTS_CA_BUNDLE=" + ca.ca,
	})
	if c.mute && systems[c.system].secure {
		proxy := tunnel(args[1])
		defer proxy.Close()
		cmd.Env = append(cmd.Env, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s%v", out, err)
	}
	return string(out)
}

// each does it for all the clients at a time. They mostly wait, so they are no
// tests of their own, of which few run at a time.
func each(clients []client, do func(client)) {
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() { do(c) })
	}
	all.Wait()
}

// named is the ticket as the system's clients name it, and as this one is told
// of it.
func (c client) named(t ticket) string {
	if c.mute {
		return "taken"
	}
	return systems[c.system].named(t)
}
