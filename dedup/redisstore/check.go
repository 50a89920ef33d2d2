package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A Warning is a setting of Redis that may cost records.
type Warning struct {
	Found string // what the setting is
	Lost  string // what may be lost with it
	Set   string // what to do
	Note  bool   // usual, and little is at stake
}

// String is the warning in one line.
func (w Warning) String() string { return w.Found + ": " + w.Lost + "; " + w.Set }

// Check reads the settings of every master and says what may be lost. What an
// ACL user may not read is a warning too; an error is only that a server is
// out of reach.
func (s *Store) Check(ctx context.Context) ([]Warning, error) {
	masters, err := s.masters(ctx)
	if err != nil {
		return nil, s.wrap("check", err)
	}
	var all []Warning
	for _, master := range masters {
		read, err := s.settings(ctx, master)
		if err != nil {
			return nil, s.wrap("check", err)
		}
		for _, w := range read.warnings() {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all, nil
}

// settings are what one master says of itself; absent what it does not say.
type settings struct {
	values map[string]string
	denied []string // commands that were refused
}

// asked by CONFIG GET; INFO has the rest.
var asked = []string{"maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "save", "min-replicas-to-write"}

func (s *Store) settings(ctx context.Context, master *redis.Client) (settings, error) {
	read := settings{values: map[string]string{}}
	for _, section := range []string{"server", "memory", "persistence", "replication"} {
		text, err := ask(ctx, s, &read, "INFO", func(ctx context.Context) (string, error) {
			return master.Info(ctx, section).Result()
		})
		if err != nil {
			return read, err
		}
		read.info(text)
	}
	for _, name := range asked {
		got, err := ask(ctx, s, &read, "CONFIG GET", func(ctx context.Context) (map[string]string, error) {
			return master.ConfigGet(ctx, name).Result()
		})
		if err != nil {
			return read, err
		}
		for name, value := range got {
			read.values[name] = value
		}
	}
	return read, nil
}

// ask asks one thing; a refusal is noted and is no error.
func ask[T any](ctx context.Context, s *Store, read *settings, command string, call func(context.Context) (T, error)) (answer T, err error) {
	err = s.bounded(ctx, func(ctx context.Context) error { answer, err = call(ctx); return err })
	if err == nil || !refusal(err) {
		return answer, err
	}
	if !slices.Contains(read.denied, command) {
		read.denied = append(read.denied, command)
	}
	return answer, nil
}

// refusal: services that run Redis for others often know no CONFIG at all.
func refusal(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "NOPERM ") || strings.HasPrefix(text, "ERR unknown command") || strings.HasPrefix(text, "ERR unknown subcommand")
}

// info takes what is wanted from INFO, under the names of CONFIG.
func (s *settings) info(text string) {
	names := map[string]string{
		"redis_version": "version", "maxmemory": "maxmemory", "maxmemory_policy": "maxmemory-policy",
		"aof_enabled": "appendonly", "role": "role", "connected_slaves": "replicas",
	}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if as := names[name]; ok && as != "" {
			s.values[as] = value
		}
	}
}

func (s *settings) is(name string, values ...string) bool {
	value, ok := s.values[name]
	return ok && slices.Contains(values, value)
}

func (s *settings) warnings() []Warning {
	var all []Warning
	for _, look := range []func() (Warning, bool){s.role, s.version, s.eviction, s.persistence, s.replicas, s.unread} {
		if w, ok := look(); ok {
			all = append(all, w)
		}
	}
	return all
}

func (s *settings) role() (Warning, bool) {
	return Warning{
		Found: "this server is a replica",
		Lost:  "it refuses every claim, and what it says may be old",
		Set:   "name the master, or its Sentinels",
	}, s.is("role", "slave")
}

func (s *settings) version() (Warning, bool) {
	parts := strings.SplitN(s.values["version"], ".", 3)
	if len(parts) < 2 {
		return Warning{}, false
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return Warning{
		Found: "Redis is " + s.values["version"],
		Lost:  "nothing that is known, but it is older than what is tested",
		Set:   "use 6.2 or newer",
	}, major < 6 || major == 6 && minor < 2
}

// eviction: every record has a TTL, so that volatile-* means all of them.
func (s *settings) eviction() (Warning, bool) {
	policy, known := s.values["maxmemory-policy"]
	return Warning{
		Found: fmt.Sprintf("maxmemory-policy is %s with maxmemory %s", policy, s.values["maxmemory"]),
		Lost:  "when the memory is full, records of open tickets are dropped without a word, and their next re-fire opens a second ticket",
		Set:   "set maxmemory-policy noeviction",
	}, known && policy != "noeviction" && s.values["maxmemory"] != "0"
}

func (s *settings) persistence() (Warning, bool) {
	const set = "set appendonly yes and appendfsync everysec or always"
	switch {
	case s.is("appendonly", "no", "0") && s.is("save", ""):
		return Warning{Found: "appendonly is no and save is empty", Lost: "a restart of Redis loses every record, and every open ticket may get a second one", Set: set}, true
	case s.is("appendonly", "no", "0"):
		return Warning{Found: "appendonly is no", Lost: "a restart of Redis loses the records since its last snapshot, and their tickets may get a second one", Set: set}, true
	case s.is("appendfsync", "no"):
		return Warning{Found: "appendfsync is no", Lost: "a power failure loses the records of about half a minute, and their tickets may get a second one", Set: set}, true
	case s.is("appendfsync", "everysec"):
		return Warning{
			Found: "appendfsync is everysec", Lost: "a power failure loses the records of the last second",
			Set: "set appendfsync always where that is too much", Note: true,
		}, true
	default:
		return Warning{}, false
	}
}

func (s *settings) replicas() (Warning, bool) {
	replicas, known := s.values["replicas"]
	return Warning{
		Found: fmt.Sprintf("min-replicas-to-write is 0 with %s replicas", replicas),
		Lost:  "a master that is cut off goes on taking claims, and a failover loses them: their tickets may get a second one",
		Set:   "set min-replicas-to-write 1 and min-replicas-max-lag 10",
	}, known && replicas != "0" && s.is("min-replicas-to-write", "0")
}

func (s *settings) unread() (Warning, bool) {
	return Warning{
		Found: strings.Join(s.denied, " and ") + " is refused",
		Lost:  "eviction, persistence or replicas could not be checked in whole: what they may lose is not known",
		Set:   "give the ACL user +info and +config|get, or see to maxmemory-policy noeviction, appendonly yes and min-replicas-to-write yourself",
	}, len(s.denied) > 0
}
