package redisstore

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Options are what a Store is made of.
type Options struct {
	// URL of the server: redis://USER:PASSWORD@HOST:PORT/DB, rediss:// for TLS,
	// unix://USER:PASSWORD@/PATH?db=DB for a socket. With Sentinel or Cluster
	// its host is not used, and it may be empty: it gives user, password,
	// database and TLS.
	URL string

	Sentinel Sentinel // set for a master that Sentinels watch
	Cluster  []string // HOST:PORT of some nodes, for a Cluster
	TLS      TLS

	// Prefix of all names in Redis, of letters, digits and "-_.:"; default
	// "oneticket". Stores with different prefixes know nothing of each other.
	Prefix string

	// Timeout bounds every call, retries of the client library included; default
	// 250 ms.
	Timeout time.Duration

	// Connections to each server at most; default 32. Calls beyond wait for one,
	// within their timeout.
	Connections int

	// Watch is how often the epoch and the servers are looked at; default 5 s.
	Watch time.Duration

	// OnFlush is told, once each time, that the store has been emptied since it
	// was last looked at: what it knew of open tickets is lost. It is called
	// from a goroutine of the store.
	OnFlush func(Flush)

	// OnOther is told that a server answers which did not when it was last looked
	// at: it took over, or has been started again, and may lack the last writes
	// that were acknowledged. It is called from a goroutine of the store.
	OnOther func()

	// Log gets what the client library reports of its connections. Nil drops
	// it: what matters comes back from the calls as well. The library has one
	// log for the process; the last Store made sets it.
	Log *slog.Logger

	// Offset is added to the store's clock in every script; nil is 0. It must
	// not go back. For tests that move time.
	Offset func() time.Duration

	once bool // the client library sends nothing again
}

// Sentinel names a master that Sentinels watch.
type Sentinel struct {
	Master   string   // as the Sentinels call it
	Addrs    []string // HOST:PORT of the Sentinels
	Username string   // at the Sentinels
	Password string
}

// TLS says how to trust and to be trusted. Any field that is set turns TLS on,
// as rediss:// does.
type TLS struct {
	CA         string // file of the authorities to trust instead of the system's
	Cert, Key  string // files of our own certificate; read again for every connection
	ServerName string // to expect in the server's certificate, instead of its host
}

func (o Options) withDefaults() (Options, error) {
	if o.Prefix == "" {
		o.Prefix = "oneticket"
	}
	if o.Timeout <= 0 {
		o.Timeout = 250 * time.Millisecond
	}
	if o.Connections <= 0 {
		o.Connections = 32
	}
	if o.Watch <= 0 {
		o.Watch = 5 * time.Second
	}
	if o.OnFlush == nil {
		o.OnFlush = func(Flush) {}
	}
	if o.OnOther == nil {
		o.OnOther = func() {}
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	return o, o.check()
}

func (o *Options) check() error {
	switch {
	case o.Sentinel.Master != "" && len(o.Cluster) > 0:
		return errors.New("both sentinel and cluster are given: a server is watched by Sentinels or is part of a Cluster")
	case o.Sentinel.Master != "" && len(o.Sentinel.Addrs) == 0:
		return fmt.Errorf("the master %s has no addresses of its Sentinels", o.Sentinel.Master)
	case o.Sentinel.Master == "" && len(o.Sentinel.Addrs) > 0:
		return errors.New("there are addresses of Sentinels but not the name of the master")
	case o.URL == "" && o.Sentinel.Master == "" && len(o.Cluster) == 0:
		return errors.New("no address is given: it needs one of url, sentinel and cluster")
	}
	if bad := strings.Trim(o.Prefix, nameBytes); bad != "" || strings.ContainsAny(o.Prefix, "@") {
		return fmt.Errorf("the prefix %q may have letters, digits and - _ . : only", o.Prefix)
	}
	return nil
}
