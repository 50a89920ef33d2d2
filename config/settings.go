package config

// A Setting is one attribute of the configuration. The table of them drives
// parsing, defaults, ranges and the reference page.
type Setting struct {
	Block    string // "" is the top level
	Label    string // only in the block with this label
	Name     string
	Kind     Kind
	Required bool
	Default  string   // as it would be written, without quotes; "" = none, or as Means says
	Least    string   // the least value, where there is one
	Most     string   // the greatest
	Choices  []string // of a Choice
	Means    string
	Danger   string   // what goes wrong when it is wrong
	Lacks    string   // what this build does not do, so that the setting has no effect; see unconnected
	Does     []string // with Lacks: the values by which this build goes, which are not warned of
}

// Kind is what the value of a setting looks like.
type Kind string

// The kinds of settings.
const (
	Text       Kind = "text"
	Flag       Kind = "true or false"
	Duration   Kind = "duration"   // "250ms", "10s", "1h30m", "7d"
	Count      Kind = "count"      // a whole number
	Size       Kind = "size"       // bytes: 4096, "256KiB", "4MiB"
	Rate       Kind = "rate"       // "10/s", "6/m", "100/h"
	Choice     Kind = "choice"     // one of Choices
	TextList   Kind = "texts"      // ["a", "b"]; one text is a list of one
	TextMap    Kind = "map"        // { name = "text" }
	Expression Kind = "expression" // over a request
	Object     Kind = "object"     // members with a meaning of their own
)

// Settings is the whole table, in the order of the reference page.
func Settings() []Setting {
	var all []Setting
	for _, part := range [][]Setting{topSettings, storeSettings, backendSettings, ruleSettings, ruleTimes, presetSettings, processSettings} {
		all = append(all, part...)
	}
	for i := range all {
		s := &all[i]
		for _, u := range unconnected {
			if u.block == s.Block && u.name == s.Name {
				s.Lacks, s.Does = u.lacks, u.does
			}
		}
	}
	return all
}

// unconnected are the settings that are read and checked, and that nothing in
// this build goes by: who sets one is warned, and the reference says so. What
// connects one takes its line out.
var unconnected = []struct {
	block, name string
	does        []string // the values that are right all the same
	lacks       string   // what there is not
}{}

// stores are the kinds that there are.
var stores = []string{"sqlite", "redis", "postgres"}

var topSettings = []Setting{
	{Name: "state_dir", Kind: Text, Default: "./.oneticket", Means: "the folder of the embedded store, the journal, the bypass log and the socket",
		Danger: "a folder that a restart empties loses the keys and the dead letters"},
	{Name: "admin", Kind: Text, Default: "127.0.0.1:9911", Means: "the address of /metrics, /live, /ready, reloads, dead letters and the close webhook",
		Danger: "whoever reaches it can reload, and read, remove or replay dead letters"},
	{Name: "socket", Kind: Text, Means: "where the proxy reaches the filter: unix:PATH?mode=0660&group=N, or HOST:PORT with tls; default: a UNIX socket in state_dir"},
	{Name: "tls", Kind: TextMap, Means: "cert, key and ca of a socket that is HOST:PORT: the files of the filter's own certificate, and of those that sign the proxy's"},
	{Name: "watch", Kind: Flag, Default: "false", Means: "reload when the file changes",
		Danger: "a file that is half written is a bad one: it changes nothing, and is shown in /ready"},
}

var storeSettings = []Setting{
	{Block: "store", Label: "sqlite", Name: "path", Kind: Text, Means: "the file; default: in state_dir",
		Danger: "a network file system does not lock it safely"},
	{Block: "store", Label: "redis", Name: "url", Kind: Text, Means: "redis://, rediss:// or unix://"},
	{Block: "store", Label: "redis", Name: "sentinel", Kind: TextMap, Means: "master, and addresses of the sentinels joined by commas"},
	{Block: "store", Label: "redis", Name: "cluster", Kind: TextList, Means: "addresses of nodes of a cluster"},
	{Block: "store", Label: "redis", Name: "tls", Kind: TextMap, Means: "ca, cert, key, server_name"},
	{Block: "store", Label: "postgres", Name: "url", Kind: Text, Required: true,
		Means:  "postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full; HOST:PORT may be several, joined by commas",
		Danger: "without sslmode=verify-full nothing proves that another machine is the server"},
	{Block: "store", Name: "timeout", Kind: Duration, Default: "250ms", Least: "10ms", Most: "10s",
		Means: "after this the store counts as out of reach and the embedded one decides", Danger: "too short makes doubles, too long holds creates"},
}

var backendSettings = []Setting{
	{Block: "backend", Name: "url", Kind: Text, Required: true, Means: "the ticket system's address, http:// or https://"},
	{Block: "backend", Name: "hosts", Kind: TextList, Means: "other names that requests to it are sent on to; *.example.com is every name below",
		Danger: "a name too many lets rules meet requests of another system"},
	{Block: "backend", Name: "listen", Kind: Text, Means: "run: the local address that stands in for it; default: a free port",
		Danger: "who reaches it reaches the ticket system, and stored answers"},
	{Block: "backend", Name: "tls", Kind: TextMap, Means: "cert and key, the files of the certificate that listen shows: it then speaks https instead of http"},
	{Block: "backend", Name: "preset", Kind: Text, Means: "what its API is like; default: the preset of the backend's name when there is such a one, else generic/json"},
	{Block: "backend", Name: "timeout", Kind: Duration, Default: "60s", Least: "100ms", Most: "15m", Means: "how long a create may take",
		Danger: "longer than the client's own patience leaves creates whose answer nobody sees"},
	{Block: "backend", Name: "rate", Kind: Rate, Means: "outside calls at most; default: no limit",
		Danger: "too low holds updates and look-ups back"},
	{Block: "backend", Name: "via", Kind: Text, Means: "the proxy through which outside calls go; default: of run its own, of serve none"},
	{Block: "backend", Name: "credentials", Kind: TextMap, Means: "what outside calls present where no caller's credential is at hand",
		Danger: "they may see more than the caller does"},
	{Block: "backend", Name: "close_secret", Kind: Text, Means: "what POST /v1/close has to present to say that a ticket of this backend is closed: 16 characters or more, by env(...); without it no such close is taken",
		Danger: "who knows it can free keys, so that the next re-fire is a second ticket"},
	{Block: "backend", Name: "failure_mode", Kind: Choice, Default: "open", Choices: []string{"open", "closed"},
		Means: "creates while the filter is dead: open lets them pass, closed refuses them", Danger: "open can make doubles, closed refuses incidents"},
}

var ruleSettings = []Setting{
	{Block: "rule", Name: "backend", Kind: Text, Required: true, Means: "the backend whose creates these are"},
	{Block: "rule", Name: "preset", Kind: Text, Means: "where all settings come from that the rule does not have; default: the backend's"},
	{Block: "rule", Name: "match", Kind: Object, Means: "which requests: method, path, query, headers, when, clears (the fault is over; without an identity it is no create)",
		Danger: "too wide guards requests that are no creates, too narrow lets creates pass"},
	{Block: "rule", Name: "identity", Kind: Object, Means: "the fields that say which fault; with it the rule works in fault mode",
		Danger: "too broad swallows incidents, too narrow makes duplicates"},
	{Block: "rule", Name: "key", Kind: Expression, Means: "instead of identity: a key function",
		Danger: "without a named fault the same body may be a new one"},
	{Block: "rule", Name: "fingerprint", Kind: Object, Means: "the material state: severity, cleared",
		Danger: "a field that changes with each request is an update each time; one left out is never updated"},
	{Block: "rule", Name: "severity", Kind: Object, Means: "what the texts of severity() mean, the worst first",
		Danger: "a text under the wrong name hides a fault that became worse"},
	{Block: "rule", Name: "class", Kind: Expression, Means: "the element class of the fault; it chooses the ttl",
		Danger: "a class that ttl does not name counts as default"},
	{Block: "rule", Name: "scope", Kind: Expression, Means: "keeps keys apart; default: the host that the request is sent on to",
		Danger: "a scope that differs between senders of one fault makes duplicates"},
	{Block: "rule", Name: "witness", Kind: Expression, Means: "the title, by which a too broad identity is noticed: without digits, times, ids and letter case"},
	{Block: "rule", Name: "for_each", Kind: Expression, Means: "the list in the body whose items are creates of their own, each seen as each.value; a request without it is one create, whose each.value is the body; ticket.items says where the answer has them",
		Danger: "a list whose items are not creates is taken apart"},
	{Block: "rule", Name: "update_rate", Kind: Rate, Default: "6/m", Means: "updates of one ticket at most; a severity that the map calls worse and a clear are sent all the same, a lesser severity is answered from the record and tried again by the next re-fire, any other is asked to come again (503)",
		Danger: "too low keeps a ticket at its worst severity for longer than the fault"},
	{Block: "rule", Name: "downgrade", Kind: Choice, Default: "apply", Choices: []string{"apply", "ignore"}, Means: "whether a lesser severity is an update",
		Danger: "ignore leaves a ticket at its worst severity"},
	{Block: "rule", Name: "merge", Kind: Choice, Default: "report", Choices: []string{"report", "close", "link"}, Means: "what becomes of a ticket that is open beside the one of its fault: logged and counted, or also closed (merge_close) or linked (merge_link) with the backend's credentials, after both were read and are open; the ticket of the record stays, whoever works on the other",
		Danger: "close closes a ticket that somebody may be working on"},
	{Block: "rule", Name: "action", Kind: Choice, Default: "enforce", Choices: []string{"enforce", "observe", "off"},
		Means:  "observe decides and counts and does nothing",
		Danger: "observe and off guard nothing"},
	{Block: "rule", Name: "on_missing", Kind: Choice, Default: "forward", Choices: []string{"forward", "reject"},
		Means:  "a request without its identity: sent on untouched, or refused with 422",
		Danger: "reject turns creates away that the ticket system would take"},
	{Block: "rule", Name: "on_refire", Kind: Choice, Choices: []string{"answer", "forward"},
		Means:  "a fault that is open already; default: forward where the backend folds, else answer",
		Danger: "forward relies on the backend to fold"},
	{Block: "rule", Name: "on_update", Kind: Choice, Default: "call", Choices: []string{"call", "forward", "suppress"}, Means: "another severity: sent to the ticket by a call, by the client's own request, or not at all (answered from the record; a clear and a reopening are still sent)",
		Danger: "suppress hides a fault that became critical; forward is a second create, unless the API creates by PUT"},
	{Block: "rule", Name: "on_update_failed", Kind: Choice, Default: "forward", Choices: []string{"forward", "error", "suppress"},
		Means: "a refused update for a worse severity", Danger: "suppress hides a fault that became critical"},
	{Block: "rule", Name: "on_cleared", Kind: Choice, Default: "forward", Choices: []string{"forward", "answer"}, Means: "a clear of a fault that has no record",
		Danger: "answer hides a clear of a ticket that was opened elsewhere"},
	{Block: "rule", Name: "on_suspect", Kind: Choice, Default: "count", Choices: []string{"count", "forward"}, Means: "the fifth and later titles under one key: logged and counted once, and with forward sent on untouched; clears never are",
		Danger: "forward makes duplicates where titles vary for one fault"},
}

var ruleTimes = []Setting{
	{Block: "rule", Name: "ttl", Kind: Object, Default: "1h", Least: "1s", Most: "90d",
		Means:  "the life of an open fault after its last request; a duration, or a map from class to one, with default",
		Danger: "shorter than the fault's re-fire gap makes duplicates"},
	{Block: "rule", Name: "window", Kind: Duration, Default: "10m", Least: "1s", Most: "48h", Means: "how long a key lives in retry mode",
		Danger: "without a named fault the same body after an hour may be a new one"},
	{Block: "rule", Name: "max_age", Kind: Duration, Default: "24h", Most: "365d", Means: "the life of an open fault from its create; 0 is without end",
		Danger: "without end, a ticket closed by hand can swallow faults for ever"},
	{Block: "rule", Name: "remember", Kind: Duration, Default: "24h", Least: "1m", Most: "365d",
		Means:  "how long a record is kept; never less than the windows or the backend's memory",
		Danger: "too short forgets a create whose answer is still to come"},
	{Block: "rule", Name: "reopen_within", Kind: Duration, Default: "0s", Most: "90d", Means: "a fault that returns so soon reopens its ticket; 0 is never",
		Danger: "too long reopens a ticket for another fault of the same key"},
	{Block: "rule", Name: "verify_every", Kind: Duration, Default: "5m", Most: "24h",
		Means: "how often an open ticket is looked at where the preset can read one; 0 is never", Danger: "never: a ticket closed by hand swallows the next fault"},
	{Block: "rule", Name: "settle", Kind: Duration, Default: "15s", Least: "1s", Most: "1h",
		Means: "how long a create may land after its attempt ended; never less than the preset's", Danger: "too short makes doubles"},
	{Block: "rule", Name: "heal_within", Kind: Duration, Default: "2s", Most: "10s", Means: "how long a client waits for the look-up of a lost answer; 0 is no healing",
		Danger: "the client waits for so long on top of the lost answer"},
	{Block: "rule", Name: "resend", Kind: Count, Default: "4", Most: "10", Means: "tries to send a create again; default in retry mode: 0",
		Danger: "credentials are held in memory meanwhile"},
}

// presetSettings say what a backend's API is like. A rule may have them too.
var presetSettings = []Setting{
	{Block: "rule", Name: "success", Kind: Object, Means: "the answers that mean created: status, when"},
	{Block: "rule", Name: "ticket", Kind: Object, Means: "the ticket in the answer: id, location; with for_each also items (the list of the answer, in the order of the request; each seen as item), failed (the list of those that were refused), number (in an item of failed: its number in the request, from 0) and wrapper (the answer without items, as JSON, for when nothing is sent); or \"none\" when answers name no ticket"},
	{Block: "rule", Name: "refused", Kind: Expression, Means: "over the answer: a failure that looks like a success"},
	{Block: "rule", Name: "exists", Kind: Object, Means: "the answers that mean that there is one already: status, match"},
	{Block: "rule", Name: "remembered", Kind: Expression, Means: "over the answer: the backend gave it before"},
	{Block: "rule", Name: "token", Kind: Object, Means: "where the backend gets the key: header, field, form, item, value, element, prefix, pattern, max, shared, volatile"},
	{Block: "rule", Name: "memory", Kind: Object, Means: "what the backend does with a token that it has seen: kind, for"},
	{Block: "rule", Name: "lookup", Kind: Object, Means: "how tickets are found by their token: the request, and what its answer says; absent is for an answer that says in another form than a list that there is none"},
	{Block: "rule", Name: "read", Kind: Object, Means: "how a ticket is read: the request, open, when, gone"},
	{Block: "rule", Name: "count", Kind: Object, Means: "how the backend counts the open tickets that carry one of our keys (they begin with idem:): the request, total, when; asked now and then with the backend's credentials"},
	{Block: "rule", Name: "update", Kind: Object, Means: "how an open ticket gets a new severity: the request, and what its answer says"},
	{Block: "rule", Name: "clear", Kind: Object, Means: "the same, for a fault that is over; closes says whether it closes the ticket"},
	{Block: "rule", Name: "reopen", Kind: Object, Means: "the same, for a fault that is back within reopen_within"},
	{Block: "rule", Name: "merge_close", Kind: Object, Means: "how merge = \"close\" closes a double (ticket) and names the one that stays (survivor) in it: the request, and what its answer says; there is no request of a client to read, and base is that of the last one"},
	{Block: "rule", Name: "merge_link", Kind: Object, Means: "the same for merge = \"link\", which leaves both open"},
	{Block: "rule", Name: "resolve", Kind: Object, Means: "the requests of clients that close a ticket: a list of method, path, id (where the path has no group of that name), when"},
	{Block: "rule", Name: "principal", Kind: Expression, Means: "the stable part of a credential; default: the user of Basic, the sub of a JWT, else the whole header"},
	{Block: "rule", Name: "credential", Kind: Object, Means: "what makes a credential beside the usual headers: headers, query, body, path; never shown",
		Danger: "a part that is forgotten lets a wrong one pass for a right one"},
	{Block: "rule", Name: "rejects_field", Kind: Expression, Means: "over the answer, and item where several creates were sent: a refusal because of our token in the backend's own field; the create is sent once more without it, and the field is left alone until the next configuration or start (not where that is refused so too)"},
	{Block: "rule", Name: "replay_headers", Kind: TextList, Means: "headers kept in a stored answer although the defaults drop them"},
	{Block: "rule", Name: "drop_headers", Kind: TextList, Means: "headers dropped from a stored answer beside the defaults"},
	{Block: "preset", Name: "default", Kind: Flag, Default: "false", Means: "the preset of its family's name"},
	{Block: "preset", Name: "unproven", Kind: Flag, Default: "false", Means: "nobody has seen it meet a client or the system: said wherever it is used; so are all of unproven.hcl"},
	{Block: "preset", Name: "timeout", Kind: Duration, Least: "100ms", Most: "15m", Means: "the backend's timeout where that has none"},
	{Block: "preset", Name: "rate", Kind: Rate, Means: "the backend's rate where that has none"},
}

var processSettings = []Setting{
	{Block: "in_flight", Name: "wait", Kind: Duration, Default: "20s", Most: "5m", Means: "how long a duplicate waits for the first",
		Danger: "longer than the client's own patience, nobody is left to answer; too short answers busy"},
	{Block: "in_flight", Name: "lease", Kind: Duration, Least: "1s", Most: "1h", Means: "how long a claim holds without renewal; default: the backend's timeout + 10s",
		Danger: "not longer than the timeout makes two tickets, and is refused"},
	{Block: "in_flight", Name: "busy", Kind: Count, Default: "503", Least: "400", Most: "599", Means: "the status for a duplicate that waited in vain",
		Danger: "a status that clients do not retry loses the request"},
	{Block: "in_flight", Name: "max_waiters", Kind: Count, Default: "4096", Least: "1", Most: "1000000", Means: "duplicates that wait at one time",
		Danger: "more than the memory and connections of the machine bear"},
	{Block: "limits", Name: "max_body", Kind: Size, Default: "4MiB", Least: "1KiB", Most: "64MiB", Means: "larger requests pass unguarded, counted",
		Danger: "every body in flight is held in memory"},
	{Block: "limits", Name: "max_response", Kind: Size, Default: "256KiB", Most: "16MiB", Means: "larger answers leave id, status and location",
		Danger: "what is cut off is rebuilt, and clients that read more of it see less"},
	{Block: "dead_letter", Name: "max_count", Kind: Count, Default: "100000", Least: "1", Most: "100000000", Means: "dead letters kept at most",
		Danger: "the oldest go when there are more"},
	{Block: "dead_letter", Name: "max_bytes", Kind: Size, Default: "1GiB", Least: "1MiB", Most: "1TiB", Means: "their size at most",
		Danger: "the oldest go when there is more"},
	{Block: "dead_letter", Name: "max_age", Kind: Duration, Default: "30d", Least: "1h", Most: "3650d", Means: "their age at most",
		Danger: "older ones are gone for good"},
	{Block: "dead_letter", Name: "replay", Kind: Choice, Default: "off", Choices: []string{"off", "auto"}, Means: "send them again without being asked",
		Danger: "a fault that is long over may get a ticket"},
	{Block: "principals", Name: "ttl", Kind: Duration, Default: "1h", Least: "1s", Most: "24h", Means: "how long an accepted credential is believed",
		Danger: "a revoked credential gets stored answers for so long"},
	{Block: "envoy", Name: "message_timeout", Kind: Duration, Default: "8s", Least: "1ms", Most: "5m",
		Means:  "how long the proxy waits for one answer of the filter; run writes 8s or more",
		Danger: "too short lets creates pass unguarded while the filter restarts; under 1s a duplicate cannot wait without max_message_timeout"},
	{Block: "envoy", Name: "max_message_timeout", Kind: Duration, Default: "60s", Most: "15m",
		Means:  "how long the filter may ask it to wait; 0 is not at all, and so is none beside a message_timeout",
		Danger: "shorter than wait cuts waiting short; longer than the proxy has, creates pass unguarded or fail while they wait"},
	{Block: "envoy", Name: "buffer_limit", Kind: Size, Most: "256MiB", Means: "bodies that the listener buffers; default: four times max_body",
		Danger: "a body that is larger and has no length is refused with 413"},
	{Block: "envoy", Name: "route_timeout", Kind: Duration, Most: "1h", Means: "of guarded routes; default: the backend's timeout",
		Danger: "shorter than a create takes loses its answer"},
	{Block: "envoy", Name: "retries", Kind: Choice, Default: "unknown", Choices: []string{"unknown", "safe"},
		Means:  "serve: what guarded routes send again, on every hop; safe is nothing, or only what was never sent (connect-failure, refused-stream, reset-before-request)",
		Danger: "safe, where a route also retries 5xx or reset, takes a create that may have become a ticket for one that did not"},
}
