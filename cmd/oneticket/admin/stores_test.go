package admin_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oneticket/cmd/oneticket/admin"
)

// TestAStoreThatDoesNotAnswerIsDownSinceItsFirstFailure, until it answers.
func TestAStoreThatDoesNotAnswerIsDownSinceItsFirstFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := admin.NewMetrics()
		m.StoreCall("redis", "claim", time.Millisecond, true)
		if down := m.StoresDown(); len(down) != 0 {
			t.Errorf("down from the beginning: %+v", down)
		}
		began := time.Now()
		m.StoreCall("redis", "claim", time.Millisecond, false)
		time.Sleep(time.Minute) // of the bubble
		m.StoreCall("redis", "get", time.Millisecond, false)
		m.StoreCall("sqlite", "get", time.Millisecond, true)
		if down := m.StoresDown(); len(down) != 1 || down[0].Store != "redis" || !down[0].Since.Equal(began) {
			t.Errorf("%+v, want redis since %s", down, began)
		}
		m.StoreCall("redis", "get", time.Millisecond, true)
		if down := m.StoresDown(); len(down) != 0 {
			t.Errorf("still down: %+v", down)
		}
	})
}

// TestATroubleOutlastsTheCallsThatAreAnswered: a damaged file has sound parts.
func TestATroubleOutlastsTheCallsThatAreAnswered(t *testing.T) {
	m := admin.NewMetrics()
	m.StoreTrouble("sqlite", "it is damaged")
	m.StoreCall("sqlite", "get", time.Millisecond, true)
	if down := m.StoresDown(); len(down) != 1 || down[0].Trouble != "it is damaged" {
		t.Errorf("%+v", down)
	}
	m.StoreTrouble("sqlite", "")
	m.StoreCall("sqlite", "get", time.Millisecond, true)
	if down := m.StoresDown(); len(down) != 0 {
		t.Errorf("still down: %+v", down)
	}
}
