package failover_test

import (
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/storetest"
)

// Two replicas that are cut off from each other both open a ticket.
func TestTwoReplicasApartReportTheDouble(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
		r.away()
		other.away()
		r.expect("create store_down T0", r.fire())
		other.expect("create store_down T1", other.fire())
		r.back()
		other.back()
		r.holds("T0")
		r.results("taken_over T0")
		other.results("duplicate T1")
		other.expect("suppress T0", other.fire())
	})
}

// Where the backend remembers and its tickets can be read, they meet there.
func TestTwoReplicasApartMeetAtTheBackend(t *testing.T) {
	for _, memory := range []dedup.Memory{dedup.Remembers, dedup.Folds} {
		t.Run(string(memory), func(t *testing.T) {
			story(t, &desk{memory: memory}, func(r *replica) {
				other := newReplica(r.TB, r.desk, r.far, storetest.NewMemory(time.Now))
				r.away()
				other.away()
				r.expect("create store_down T0", r.fire())
				other.expect("create store_down T0", other.fire())
				r.back()
				other.back()
				r.holds("T0")
				r.results("taken_over T0")
				other.results("merged T0")
			})
		})
	}
}

func TestTwoReplicasOfOneMachineShareTheEmbeddedStore(t *testing.T) {
	story(t, &desk{}, func(r *replica) {
		other := newReplica(r.TB, r.desk, r.far, r.near)
		r.away()
		other.away()
		r.expect("create store_down T0", r.fire())
		other.expect("suppress T0", other.fire())
		r.back()
		other.back()
		r.holds("T0")
		if all := append(r.told.results(), other.told.results()...); len(all) != 1 || all[0] != "taken_over T0" {
			r.Errorf("told %q", all)
		}
	})
}
