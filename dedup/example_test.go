package dedup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

// embedded is a new store in one file, which several processes may share. Its
// folder goes with the store.
func embedded() dedup.Store {
	dir, err := os.MkdirTemp("", "once")
	if err != nil {
		panic(err)
	}
	store, err := sqlitestore.Open(context.Background(), sqlitestore.Options{Path: filepath.Join(dir, "once.db")})
	if err != nil {
		panic(err)
	}
	return inFolder{store, dir}
}

type inFolder struct {
	dedup.Store
	dir string
}

func (s inFolder) Close() error {
	defer os.RemoveAll(s.dir)
	return s.Store.Close()
}

func ExampleOnce_Do() {
	store := embedded() // sqlitestore.Open, redisstore.New ...
	defer store.Close()
	once := dedup.NewOnce(dedup.OnceOptions{Store: store, Name: "reports"})
	defer once.Close()

	for range 2 {
		result, replayed, err := once.Do(context.Background(), "2026-01-05", func(context.Context) ([]byte, error) {
			return []byte("sent"), nil
		})
		fmt.Printf("%s replayed=%t err=%v\n", result, replayed, err)
	}
	// Output:
	// sent replayed=false err=<nil>
	// sent replayed=true err=<nil>
}
