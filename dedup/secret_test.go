package dedup_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

func TestReplicasThatStartAtOneInstantAgreeOnTheSecret(t *testing.T) {
	store := storetest.NewMemory(time.Now)
	secrets := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() {
			var err error
			if secrets[i], err = dedup.Secret(t.Context(), store); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, s := range secrets {
		if len(s) < 32 || !bytes.Equal(s, secrets[0]) {
			t.Errorf("secrets of %d and %d bytes differ", len(s), len(secrets[0]))
		}
	}
	later, err := dedup.Secret(t.Context(), store)
	if err != nil || !bytes.Equal(later, secrets[0]) {
		t.Errorf("later it is another one, %v", err)
	}
	other, err := dedup.Secret(t.Context(), storetest.NewMemory(time.Now))
	if err != nil || bytes.Equal(other, later) {
		t.Errorf("another store has the same, %v", err)
	}
}
