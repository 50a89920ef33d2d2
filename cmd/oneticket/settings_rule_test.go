package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// trialRules are rules of one setting each, beside one that has none.
func trialRules() map[string]string {
	return map[string]string{
		"plain":     inFault(""),
		"ignore":    inFault(`downgrade = "ignore"`),
		"reject":    inFault(`on_missing = "reject"`),
		"refires":   inFault(`on_refire = "forward"`),
		"error":     inFault(`on_update_failed = "error"`),
		"suppress":  inFault(`on_update_failed = "suppress"`),
		"puts":      inFault(`on_update = "forward"`),
		"cleared":   inFault(`on_cleared = "answer"`),
		"tenants":   inFault(`scope = body.company`),
		"reopens":   inFault(`reopen_within = "1h"`),
		"keyed":     `key = job_key("check", body.category)`,
		"window":    `window = "1s"`,
		"classes":   inFault("class = body.u_tier\n ttl = { default = \"1h\", short = \"1s\" }\n verify_every = \"0\""),
		"aged":      inFault("max_age = \"1s\"\n verify_every = \"0\""),
		"looked":    inFault(`verify_every = "1s"`),
		"unlooked":  inFault(`verify_every = "0"`),
		"listening": inFault(`action = "observe"`),
	}
}

// TestSettingsOfARuleDoWhatTheySay: each is tried in a rule that has it, and
// where it can be in one that has not.
func TestSettingsOfARuleDoWhatTheySay(t *testing.T) {
	o := newTicketOffice(t, "servicenow")
	o.refuses[readOnly] = true
	r := &trial{t: t, o: o, client: newClient(t), s: newRulesSidecar(t, o, "", "", trialRules())}
	r.s.start()
	for name, try := range map[string]func(r *trial){
		"downgrade": tryDowngrade, "on_missing": tryOnMissing, "on_refire": tryOnRefire, "on_update": tryOnUpdate,
		"on_update_failed": tryOnUpdateFailed, "on_cleared": tryOnCleared, "scope": tryScope, "key": tryKey,
		"reopen_within": tryReopenWithin, "window": tryWindow, "class and ttl": tryClassAndTTL, "max_age": tryMaxAge,
		"verify_every": tryVerifyEvery, "action": tryAction,
	} {
		t.Run(name, func(t *testing.T) {
			one := *r
			one.t = t
			try(&one)
		})
	}
}

// A trial is one client of the rules.
type trial struct {
	t      *testing.T
	o      *ticketOffice
	s      *sidecar
	client *http.Client
}

// readOnly is a user whose changes of tickets are refused.
const readOnly = "Basic cmVhZDpvbmx5"

// create sends one for the element; more are members.
func (r *trial) create(element, severity string, more ...string) answer {
	r.t.Helper()
	return r.createAs(clientUser, element, severity, more...)
}

func (r *trial) createAs(user, element, severity string, more ...string) answer {
	r.t.Helper()
	members := append([]string{fmt.Sprintf(`"cmdb_ci":%q,"category":"link","urgency":%q`, element, severity)}, more...)
	return r.s.sendAs(r.client, user, "/api/now/table/incident", "{"+strings.Join(members, ",")+"}")
}

func (r *trial) want(a answer, decision string, status int) {
	r.t.Helper()
	if a.decision() != decision || a.status != status {
		r.t.Errorf("%s, %d %q; want %s, %d", a.decision(), a.status, a.body, decision, status)
	}
}

// is what the office says of the ticket that an answer names.
func (r *trial) is(a answer) officeTicket {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	return *r.o.of(a.ticket())
}

const (
	decidedFirst   = "create; reason=first"
	decidedClosed  = "create; reason=closed"
	decidedExpired = "create; reason=expired"
	decidedRefire  = "suppress; reason=refire"
	decidedChanged = "update; reason=changed"

	cleared = `"state":"6"`
)

// pastASecond lets go by what lasts one.
func pastASecond() { time.Sleep(1100 * time.Millisecond) }

func tryDowngrade(r *trial) {
	r.want(r.create("plain-1", "2"), decidedFirst, 201)
	r.want(r.create("plain-1", "3"), decidedChanged, 201)
	a := r.create("ignore-1", "2")
	r.want(r.create("ignore-1", "3"), decidedRefire, 201)
	if got := r.is(a).severity; got != "2" {
		r.t.Errorf("the ticket says %s", got)
	}
	r.want(r.create("ignore-1", "1"), decidedChanged, 201)
}

func tryOnMissing(r *trial) {
	missing := func(element string) answer {
		return r.s.send(r.client, "/api/now/table/incident", fmt.Sprintf(`{"cmdb_ci":%q,"urgency":"2"}`, element))
	}
	r.want(missing("plain-1"), "pass; reason=missing", 201)
	a := missing("reject-1")
	r.want(a, "reject; reason=missing", 422)
	if !strings.Contains(a.body, "check") {
		r.t.Errorf("the field is not named: %s", a.body)
	}
}

func tryOnRefire(r *trial) {
	a, b := r.create("refires-1", "2"), r.create("refires-1", "2")
	r.want(b, decidedRefire, 201)
	if b.replayed || a.ticket() == b.ticket() {
		r.t.Errorf("it was answered with %q", b.body)
	}
}

func tryOnUpdate(r *trial) {
	a, before := r.create("puts-1", "3"), r.o.changed()
	b := r.create("puts-1", "1")
	r.want(b, decidedChanged, 201)
	if r.o.changed() != before || a.ticket() == b.ticket() {
		r.t.Errorf("%d calls, %q and %q", r.o.changed()-before, a.body, b.body)
	}
}

func tryOnUpdateFailed(r *trial) {
	a := r.createAs(readOnly, "error-1", "3")
	r.want(r.createAs(readOnly, "error-1", "1"), decidedChanged, 403)
	b := r.createAs(readOnly, "suppress-1", "3")
	c := r.createAs(readOnly, "suppress-1", "1")
	r.want(c, decidedRefire, 201)
	if r.is(a).severity != "3" || r.is(b).severity != "3" || c.ticket() != b.ticket() {
		r.t.Errorf("%q, %q, %q", a.body, b.body, c.body)
	}
	r.createAs(readOnly, "plain-2", "3")
	r.want(r.createAs(readOnly, "plain-2", "1"), "create; reason=update_failed", 201)
}

func tryOnCleared(r *trial) {
	before := r.o.size()
	r.want(r.create("cleared-1", "3", cleared), "pass; reason=unmatched_clear", 200)
	if r.o.size() != before {
		r.t.Error("it was sent on")
	}
	r.want(r.create("plain-3", "3", cleared), "pass; reason=unmatched_clear", 201)
}

func tryScope(r *trial) {
	a := r.create("tenants-1", "3", `"company":"a"`)
	r.want(r.create("tenants-1", "3", `"company":"b"`), decidedFirst, 201)
	if b := r.create("tenants-1", "3", `"company":"a"`); b.ticket() != a.ticket() {
		r.t.Errorf("%q and %q", a.body, b.body)
	}
}

func tryKey(r *trial) {
	r.create("keyed-1", "3")
	r.want(r.create("keyed-2", "3", `"short_description":"another"`), decidedRefire, 201)
}

func tryReopenWithin(r *trial) {
	r.create("reopens-1", "3")
	r.want(r.create("reopens-1", "3", cleared), decidedChanged, 201)
	r.want(r.create("reopens-1", "3"), "update; reason=reopened", 201)
	r.create("plain-4", "3")
	r.create("plain-4", "3", cleared)
	r.want(r.create("plain-4", "3"), decidedClosed, 201)
}

func tryWindow(r *trial) {
	r.create("window-1", "3")
	pastASecond()
	r.want(r.create("window-1", "3"), decidedExpired, 201)
}

func tryClassAndTTL(r *trial) {
	r.create("classes-1", "3", `"u_tier":"short"`)
	r.create("classes-2", "3", `"u_tier":"long"`)
	pastASecond()
	r.want(r.create("classes-1", "3", `"u_tier":"short"`), decidedExpired, 201)
	r.want(r.create("classes-2", "3", `"u_tier":"long"`), decidedRefire, 201)
}

func tryMaxAge(r *trial) {
	r.create("aged-1", "3")
	pastASecond()
	r.want(r.create("aged-1", "3"), decidedExpired, 201)
}

func tryVerifyEvery(r *trial) {
	r.create("looked-1", "3")
	looked, unlooked := r.create("looked-2", "3"), r.create("unlooked-1", "3")
	r.o.set(func() { r.o.of(looked.ticket()).open, r.o.of(unlooked.ticket()).open = false, false }) // by hand
	pastASecond()
	r.want(r.create("looked-1", "3"), "suppress; reason=verified", 201)
	r.want(r.create("looked-2", "3"), decidedClosed, 201)
	r.want(r.create("unlooked-1", "3"), decidedRefire, 201)
}

func tryAction(r *trial) {
	a, b := r.create("listening-1", "3"), r.create("listening-1", "3")
	r.want(b, "", 201)
	if a.ticket() == b.ticket() {
		r.t.Errorf("%q and %q", a.body, b.body)
	}
}
