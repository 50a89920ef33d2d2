package redisstore

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// urlOptions may stand behind the ? of an address.
var urlOptions = []string{"db", "protocol", "client_name"}

// parseURL reads an address. Its errors never quote from it: the part that
// does not parse may be of a password.
func parseURL(address string) (*redis.Options, error) {
	if address == "" {
		return &redis.Options{}, nil
	}
	scheme, _, _ := strings.Cut(address, "://")
	if !slices.Contains([]string{"redis", "rediss", "unix"}, scheme) {
		return nil, errors.New("the url must begin with redis://, rediss:// or unix://")
	}
	u, err := url.Parse(address)
	if err != nil || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") {
		return nil, errors.New("the url does not parse: in a user or password, each of : / ? # [ ] @ % must be written as %XX")
	}
	for name := range u.Query() {
		if !slices.Contains(urlOptions, name) {
			return nil, fmt.Errorf("the url has an option that is not known here; it may have %s", strings.Join(urlOptions, ", "))
		}
	}
	opt, err := redis.ParseURL(address)
	if err != nil {
		return nil, errors.New("the url names no database number, no socket or no known value of an option")
	}
	return opt, nil
}

// universal are the client library's options.
func (o *Options) universal() (*redis.UniversalOptions, error) {
	at, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	u := &redis.UniversalOptions{
		Addrs: []string{at.Addr}, DB: at.DB, Username: at.Username, Password: at.Password,
		Protocol: at.Protocol, ClientName: at.ClientName, TLSConfig: at.TLSConfig,
		MasterName: o.Sentinel.Master, SentinelUsername: o.Sentinel.Username, SentinelPassword: o.Sentinel.Password,

		// A call's context bounds it with all its retries, which are harmless:
		// calls recognise what they wrote.
		ContextTimeoutEnabled: true,
		MaxRetries:            3, MinRetryBackoff: 4 * time.Millisecond, MaxRetryBackoff: 64 * time.Millisecond,
		DialTimeout: o.Timeout, ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, DialerRetries: 1,
		PoolSize: o.Connections, PoolTimeout: o.Timeout, MinIdleConns: min(2, o.Connections), PipelinePoolSize: -1,

		// What one product's servers announce, at the price of a command in
		// every connection to any server.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		DisableIdentity:          true,
	}
	if o.once {
		u.MaxRetries = -1
	}
	switch {
	case o.Sentinel.Master != "":
		u.Addrs = o.Sentinel.Addrs
	case len(o.Cluster) > 0:
		if at.DB != 0 {
			return nil, errors.New("a Cluster has no other database than 0")
		}
		u.Addrs = o.Cluster
	}
	if u.TLSConfig, err = o.TLS.config(at.TLSConfig != nil, u.TLSConfig); err != nil {
		return nil, err
	}
	if u.TLSConfig != nil && (o.Sentinel.Master != "" || len(o.Cluster) > 0) && o.TLS.ServerName == "" {
		u.TLSConfig.ServerName = "" // each node has its own
	}
	return u, nil
}

func (o *Options) client(u *redis.UniversalOptions) redis.UniversalClient {
	switch {
	case o.Sentinel.Master != "":
		return redis.NewFailoverClient(u.Failover())
	case len(o.Cluster) > 0:
		return redis.NewClusterClient(u.Cluster())
	default:
		return redis.NewClient(u.Simple())
	}
}

// shown is how errors call the store: no user, no password.
func (o *Options) shown(u *redis.UniversalOptions) string {
	if o.Sentinel.Master != "" {
		return o.Sentinel.Master + " of " + strings.Join(u.Addrs, ",")
	}
	return strings.Join(u.Addrs, ",")
}
