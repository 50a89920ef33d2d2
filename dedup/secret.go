package dedup

import (
	"context"
	"crypto/rand"
	"errors"
)

// secretRef is where the secret is kept: beside all records, which have a rule.
var secretRef = Ref{Scope: "oneticket", Key: "secret"}

// secretLength is that of the output of the hash that it keys.
const secretLength = 32

// Secret returns the secret of the store, with which every replica makes the
// same hash of a credential. The first who asks makes it.
func Secret(ctx context.Context, store Store) ([]byte, error) {
	return NewEngine(EngineOptions{Store: store}).Secret(ctx)
}

// Secret is that of the engine's store.
func (e *Engine) Secret(ctx context.Context) ([]byte, error) {
	for range maxRounds {
		found, err := e.store.Get(ctx, secretRef)
		if err != nil {
			return nil, err
		}
		if kept := found.Record.Identity; len(kept) >= secretLength {
			return kept, nil
		}
		secret := make([]byte, secretLength)
		rand.Read(secret) // never fails
		next := Record{
			V: Format, State: None, Episode: found.Record.Episode,
			Identity: secret, KeepUntil: found.Now.Add(switchesKept),
		}
		written, err := e.swap(ctx, secretRef, found.Record.Version, next)
		if err == nil {
			return written.Identity, nil
		}
		if !errors.Is(err, ErrConflict) {
			return nil, err
		}
	}
	return nil, ErrConflict
}
