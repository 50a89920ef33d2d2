package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// A Warning is a setting of PostgreSQL that may cost records.
type Warning struct {
	Found string // what the setting is
	Lost  string // what may be lost with it
	Set   string // what to do
	Note  bool   // usual, and little is at stake
}

// String is the warning in one line.
func (w Warning) String() string { return w.Found + ": " + w.Lost + "; " + w.Set }

// asked are the settings that are read, as this role has them in this database.
var asked = []string{
	"server_version_num", "server_version", "synchronous_commit", "fsync", "full_page_writes",
	"synchronous_standby_names", "transaction_read_only", "default_transaction_isolation",
}

// settings are what a server says of itself.
type settings struct {
	values   map[string]string
	standby  bool
	standbys int64 // that follow
}

// Check reads the settings of the server and says what may be lost. An error
// is only that the server is out of reach.
func (s *Store) Check(ctx context.Context) ([]Warning, error) {
	read := settings{values: map[string]string{}}
	err := s.aside(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `SELECT name, setting FROM pg_settings WHERE name = ANY ($1)`, asked)
		if err != nil {
			return err
		}
		var name, value string
		if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error { read.values[name] = value; return nil }); err != nil {
			return err
		}
		return conn.QueryRow(ctx, `SELECT pg_is_in_recovery(), count(*) FROM pg_stat_get_wal_senders()`).Scan(&read.standby, &read.standbys)
	})
	if err != nil {
		return nil, s.wrap("check", err)
	}
	return read.warnings(), nil
}

func (s *settings) is(name string, values ...string) bool {
	value, ok := s.values[name]
	return ok && slices.Contains(values, value)
}

func (s *settings) warnings() []Warning {
	var all []Warning
	for _, look := range []func() (Warning, bool){s.role, s.version, s.durable, s.disk, s.followed, s.isolation} {
		if w, ok := look(); ok {
			all = append(all, w)
		}
	}
	return all
}

func (s *settings) role() (Warning, bool) {
	const set = "name the primary in the url, or all hosts joined by commas: the primary among them is found"
	if s.standby {
		return Warning{Found: "this server is a standby", Lost: "it refuses every claim", Set: set}, true
	}
	return Warning{Found: "this role or database takes no writes (default_transaction_read_only)", Lost: "every claim is refused", Set: set},
		s.is("transaction_read_only", "on")
}

func (s *settings) version() (Warning, bool) {
	number, err := strconv.Atoi(s.values["server_version_num"])
	return Warning{
		Found: "PostgreSQL is " + s.values["server_version"],
		Lost:  "nothing that is known, but it is older than what is supported",
		Set:   "use 13 or newer",
	}, err == nil && number < 130000
}

func (s *settings) durable() (Warning, bool) {
	return Warning{
		Found: "synchronous_commit is off",
		Lost:  "a crash of PostgreSQL loses the records of the last moments, and their tickets may get a second one",
		Set:   "set synchronous_commit = on for the role",
	}, s.is("synchronous_commit", "off")
}

func (s *settings) disk() (Warning, bool) {
	return Warning{
		Found: fmt.Sprintf("fsync is %s and full_page_writes is %s", s.values["fsync"], s.values["full_page_writes"]),
		Lost:  "a power failure can lose or damage the whole database",
		Set:   "set both on",
	}, s.is("fsync", "off") || s.is("full_page_writes", "off")
}

// followed: what a failover loses.
func (s *settings) followed() (Warning, bool) {
	const set = "set synchronous_standby_names, and synchronous_commit on or remote_apply"
	lost := "a failover loses what a standby did not have yet, and its tickets may get a second one"
	switch {
	case s.standbys == 0 || s.is("synchronous_commit", "off"):
		return Warning{}, false
	case s.is("synchronous_standby_names", ""):
		return Warning{Found: fmt.Sprintf("%d standbys follow and none is synchronous", s.standbys), Lost: lost, Set: set}, true
	default:
		return Warning{Found: "synchronous_commit is local", Lost: lost, Set: set}, s.is("synchronous_commit", "local")
	}
}

func (s *settings) isolation() (Warning, bool) {
	level := s.values["default_transaction_isolation"]
	return Warning{
		Found: "default_transaction_isolation is " + level,
		Lost:  "no record, but time: calls on one key at one instant fail and are made again",
		Set:   "set it to read committed for the role",
		Note:  true,
	}, level != "" && level != "read committed"
}
