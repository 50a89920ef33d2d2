package pgstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// mostEnding bounds the connections that are closed and wait for the server
	// to take note; further ones wait in their place in the pool.
	mostEnding = 64
	// leastAge: a younger connection that is only slow, or leads to a server
	// that takes no writes, tells nothing new: its successor would be the same.
	leastAge = time.Second
	// closePatience bounds how long Close waits for a server that does not
	// answer.
	closePatience = 2 * time.Second
)

// conns are the pool. Connections belong to generations: when one turns out to
// be dead, or leads to a server that is not the primary, all of its generation
// are replaced before they are used again.
type conns struct {
	pool       *pgxpool.Pool
	generation atomic.Int64
	ending     atomic.Int64
}

// What a connection remembers of itself.
const (
	generationKey = "oneticket.generation"
	bornKey       = "oneticket.born"
)

func newConns(config *pgxpool.Config) (*conns, error) {
	c := &conns{}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		data := conn.PgConn().CustomData()
		data[generationKey], data[bornKey] = c.generation.Load(), time.Now()
		return nil
	}
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return generationOf(conn) == c.generation.Load(), nil
	}
	var err error
	c.pool, err = pgxpool.NewWithConfig(context.Background(), config)
	return c, err
}

func generationOf(conn *pgx.Conn) int64 {
	generation, _ := conn.PgConn().CustomData()[generationKey].(int64)
	return generation
}

func (c *conns) take(ctx context.Context) (*pgxpool.Conn, error) { return c.pool.Acquire(ctx) }

// give puts a connection back. One that was closed in the middle of a call
// leaves its place in the pool at once: the server may be long in taking note.
func (c *conns) give(conn *pgxpool.Conn) {
	if !conn.Conn().IsClosed() {
		conn.Release()
		return
	}
	if c.ending.Add(1) > mostEnding {
		c.ending.Add(-1)
		conn.Release()
		return
	}
	ended := conn.Hijack()
	go func() {
		defer c.ending.Add(-1)
		<-ended.PgConn().CleanupDone()
	}()
}

// retireOld has the connection and all of its generation replaced, if it is not
// young, and reports whether it did.
func (c *conns) retireOld(conn *pgx.Conn) bool {
	born, _ := conn.PgConn().CustomData()[bornKey].(time.Time)
	old := time.Since(born) >= leastAge
	if old {
		c.retire(conn)
	}
	return old
}

// retire has the connection and all of its generation replaced.
func (c *conns) retire(conn *pgx.Conn) {
	was := generationOf(conn)
	c.generation.CompareAndSwap(was, was+1)
}

// close ends all connections, and waits for that only so long.
func (c *conns) close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closePatience):
	}
}
