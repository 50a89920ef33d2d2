// Command go-program is a payment endpoint that moves money once: what
// oneticket does for ticket systems, in a Go program of one's own, by package
// dedup and any of its stores. README.md tells the story.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/pgstore"
	"oneticket/dedup/redisstore"
	"oneticket/dedup/sqlitestore"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	listen := flag.String("listen", "127.0.0.1:8095", "where payments are taken")
	bank := flag.String("bank", "", "the bank's URL; a POST to it moves money")
	where := flag.String("store", "payments.db", "a file, redis://HOST:PORT or postgres://USER@HOST/DATABASE")
	lease := flag.Duration("lease", 10*time.Second, "how soon another process notices that this one has died")
	flag.Parse()

	store, err := openStore(ctx, *where)
	if err != nil {
		return fmt.Errorf("store %s: %w", *where, err)
	}
	defer store.Close()
	once := dedup.NewOnce(dedup.OnceOptions{Store: store, Name: "payments", Keep: 24 * time.Hour, Lease: *lease})
	defer once.Close()

	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: &till{once: once, bank: *bank}, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background()) // waits for the payments that are under way
	}()
	log.Printf("payments at http://%s", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openStore opens the store that all replicas of the program share.
func openStore(ctx context.Context, where string) (dedup.Store, error) {
	const timeout = 2 * time.Second
	scheme, _, _ := strings.Cut(where, "://")
	switch scheme {
	case "redis":
		return redisstore.New(redisstore.Options{URL: where, Timeout: timeout})
	case "postgres":
		return pgstore.Open(ctx, pgstore.Options{URL: where, Timeout: timeout})
	default:
		return sqlitestore.Open(ctx, sqlitestore.Options{Path: where, Timeout: timeout})
	}
}
