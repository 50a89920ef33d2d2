package main

import (
	"context"
	"errors"
	"log/slog"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup/pgstore"
)

// openPostgres opens a store in PostgreSQL. One that is out of reach is said
// and counted but ends nothing: the embedded store decides until it is back. A
// schema of a newer program ends the start: this one will never be able to
// write to it.
func openPostgres(ctx context.Context, s config.Store, m *admin.Metrics, log *slog.Logger) (*pgstore.Store, error) {
	store, err := pgstore.New(pgstore.Options{
		URL:     s.URL,
		Timeout: s.Timeout,
		Offset:  storeOffset,
		OnFlush: func(f pgstore.Flush) { flushed("postgres", f.Was, f.Now, m, log) },
	})
	if err != nil {
		return nil, err
	}
	err = store.Start(ctx)
	if errors.Is(err, pgstore.ErrNewer) {
		return nil, errors.Join(err, store.Close())
	}
	if err != nil {
		log.Error("the store is out of reach", "store", "postgres", "error", err)
	}
	return store, nil
}
