package pgstore

import (
	"errors"
	"strings"
	"time"
)

// Options are what a Store is made of.
type Options struct {
	// URL of the database: postgres://USER:PASSWORD@HOST:PORT/DATABASE, with
	// several HOST:PORT joined by commas where one of them is the primary at a
	// time, and options behind a ? as libpq has them; see urlOptions.
	URL string

	// Schema that holds everything; default "oneticket". Stores in different
	// schemas know nothing of each other.
	Schema string

	// Timeout bounds every call, its repetitions included; default 250 ms.
	// Listing, checking and making the schema may take longer.
	Timeout time.Duration

	// Connections at most; default 16, and pool_max_conns in the url goes
	// before it. Calls beyond wait for one, within their timeout.
	Connections int

	// Watch is how often what is over is removed and the epoch is looked at;
	// default 5 s.
	Watch time.Duration

	// OnFlush is told, once each time, that the store has been emptied since it
	// was last looked at: what it knew of open tickets is lost. It is called
	// from a goroutine of the store.
	OnFlush func(Flush)

	// Offset is added to the store's clock in every call; nil is 0. It must not
	// go back. For tests that move time.
	Offset func() time.Duration

	once bool // no call is repeated
}

// maxSchema is how long a name may be in PostgreSQL.
const maxSchema = 63

func (o Options) withDefaults() (Options, error) {
	if o.Schema == "" {
		o.Schema = "oneticket"
	}
	if o.Timeout <= 0 {
		o.Timeout = 250 * time.Millisecond
	}
	if o.Connections <= 0 {
		o.Connections = 16
	}
	if o.Watch <= 0 {
		o.Watch = 5 * time.Second
	}
	if o.OnFlush == nil {
		o.OnFlush = func(Flush) {}
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	if len(o.Schema) > maxSchema || strings.ContainsRune(o.Schema, 0) || strings.HasPrefix(o.Schema, "pg_") {
		return o, errors.New("the schema needs a name of at most 63 bytes that does not begin with pg_")
	}
	return o, nil
}

// slow is the time for what is not on the path of a request.
func (o *Options) slow() time.Duration { return max(o.Timeout, 10*time.Second) }
