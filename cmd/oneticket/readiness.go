package main

import (
	"strings"
	"sync/atomic"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup/deadletter"
	"oneticket/extproc"
)

// readiness is what /ready says, put together from the parts.
type readiness struct {
	up    atomic.Bool // the proxy takes requests; of serve, the filter does
	store string      // where, for a person
	admin string      // address, once it is known
}

func newReadiness(cfg *config.Config, dir *stateDir) *readiness {
	return &readiness{store: storePlace(cfg.Store, dir)}
}

func (r *readiness) set()   { r.up.Store(true) }
func (r *readiness) unset() { r.up.Store(false) }

// newAdmin listens on the admin address.
func newAdmin(p *process, cfg *config.Config, m *admin.Metrics, r *readiness, filter *extproc.Server, book *ruleBook, reload *reloader, letters *letterBox, lost *lostFiles, closes *closeDesk, doubles *reconcileDesk) (*admin.Server, error) {
	server, err := admin.Listen(cfg.Admin, m, func() admin.Readiness {
		state := admin.Readiness{Ready: r.up.Load(), Degraded: filter.Degraded()}
		if off := book.off(); len(off) > 0 {
			state.Degraded = append(state.Degraded, "switched off, creates pass untouched: "+strings.Join(off, ", "))
		}
		state.Degraded = append(state.Degraded, storeSentences(m, r.store)...)
		state.Degraded = append(state.Degraded, lost.degraded()...)
		state.Degraded = append(state.Degraded, letters.degraded()...)
		state.Degraded = append(state.Degraded, keylessSentences(m)...)
		state.Degraded = append(state.Degraded, fieldSentences(book.inForce())...)
		state.Degraded = append(state.Degraded, reload.degraded()...)
		if !state.Ready {
			state.Waiting = []string{p.front()}
		}
		return state
	}, reload.reload, deadletter.Handler(letters.Box, letters.replayer), closes.handler(), doubles.handler())
	if err != nil {
		return nil, err
	}
	r.admin = server.Address()
	return server, nil
}
