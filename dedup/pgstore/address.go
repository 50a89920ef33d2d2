package pgstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// urlOptions may stand behind the ? of an address. What else PostgreSQL knows
// would be sent to the server as a setting, which a pooler refuses.
var urlOptions = []string{
	"host", "port", "dbname", "user", "password", "passfile", "application_name", "connect_timeout",
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslsni", "sslnegotiation", "channel_binding", "require_auth",
	"target_session_attrs", "pool_max_conns", "default_query_exec_mode",
}

var schemes = []string{"postgres", "postgresql"}

// parseURL reads an address. Its errors never quote from it: the part that
// does not parse may be of a password.
func parseURL(address string) (*pgxpool.Config, error) {
	if address == "" {
		return nil, errors.New("no url is given: it is postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	u, err := split(address)
	if err != nil {
		return nil, err
	}
	for name := range u.Query() {
		if !slices.Contains(urlOptions, name) {
			return nil, fmt.Errorf("the url has an option that is not known here; it may have %s", strings.Join(urlOptions, ", "))
		}
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the url has an option with a value that is not known, a host that is none, or names a file that cannot be read")
	}
	return config, nil
}

// split is url.Parse for addresses that may name several hosts.
func split(address string) (*url.URL, error) {
	unclear := errors.New("the url does not parse: in a user or password, each of : / ? # [ ] @ % must be written as %XX")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || !slices.Contains(schemes, scheme) {
		return nil, errors.New("the url must begin with postgres://")
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	user, hosts, named := strings.Cut(authority, "@")
	if !named {
		user, hosts = "", authority
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if !isHost(host) {
			return nil, unclear
		}
	}
	u, err := url.Parse(scheme + "://" + user + "@h" + rest)
	if err != nil || strings.Contains(u.Path+u.Fragment+hosts, "@") || u.Fragment != "" {
		return nil, unclear
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		return nil, unclear
	}
	u.Host = hosts
	return u, nil
}

// isHost reports whether the text is HOST, HOST:PORT or either empty.
func isHost(text string) bool {
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		host, port = text[:i], text[i+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		return net.ParseIP(strings.TrimSuffix(inner, "]")) != nil
	}
	return !strings.ContainsAny(host, ":[] ")
}

// Place is where the store of an address is, for a person: without user,
// password and options; empty where the address cannot be read.
func Place(address string) string {
	config, err := parseURL(address)
	if err != nil {
		return ""
	}
	return placeOf(&config.ConnConfig.Config)
}

func placeOf(c *pgconn.Config) string {
	var hosts []string
	for _, host := range attempts(c) {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return strings.Join(hosts, ",") + "/" + c.Database
}

// attempts are the addresses that are tried, in their order; with sslmode
// prefer, each twice.
func attempts(c *pgconn.Config) []string {
	all := []string{hostOf(c.Host, c.Port)}
	for _, f := range c.Fallbacks {
		all = append(all, hostOf(f.Host, f.Port))
	}
	return all
}

func hostOf(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// configure makes the pool's configuration.
func (o *Options) configure() (*pgxpool.Config, error) {
	c, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	u, _ := split(o.URL)
	asked := u.Query()
	if !asked.Has("pool_max_conns") {
		c.MaxConns = int32(o.Connections)
	}
	c.MinIdleConns = min(2, c.MaxConns)
	c.MaxConnLifetimeJitter = 10 * time.Minute
	// A ping before a call would be a second round trip; a connection that
	// turns out to be dead is replaced, and the call repeated.
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }

	conn := c.ConnConfig
	if !asked.Has("default_query_exec_mode") {
		conn.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if !asked.Has("connect_timeout") {
		conn.ConnectTimeout = max(2*time.Second, 4*o.Timeout)
	}
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = "oneticket"
	}
	// Of several hosts one is the primary.
	if !asked.Has("target_session_attrs") && strings.Contains(conn.Host+u.Host+asked.Get("host"), ",") {
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return c, nil
}
