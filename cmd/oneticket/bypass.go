package main

import (
	"context"
	"log/slog"
	"sync"

	"oneticket/cmd/oneticket/admin"
	"oneticket/extproc/envoy"
)

// A bypassLog is being read: it names the creates that passed unguarded.
type bypassLog struct {
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// readBypassLog counts the creates that passed while nobody guarded them; reads
// and changes of tickets pass guarded routes too, and make no ticket. reopen is
// nil where the Envoy is somebody else's.
func readBypassLog(dir string, reopen func(context.Context) error, now *inForce, m *admin.Metrics, log *slog.Logger) *bypassLog {
	ctx, cancel := context.WithCancel(context.Background())
	b := &bypassLog{stop: cancel}
	tail := envoy.BypassTail{StateDir: dir, Log: log, Reopen: reopen, Each: func(x envoy.Bypass) {
		if !now.config().MayCreate(x.Backend, x.Method, x.Path) {
			return
		}
		m.Bypassed(x.Backend)
		if b := now.config().Backend(x.Backend); b != nil && now.config().HidesPath(b) {
			x.Path = "" // of an Envoy that was configured before
		}
		log.Warn("a create passed unguarded: a double is possible", "backend", x.Backend, "method", x.Method,
			"path", x.Path, "status", x.Status, "at", x.Time, "details", x.Details)
	}}
	b.ended.Go(func() {
		if err := tail.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error("the bypass log is no longer read: creates that pass unguarded are not counted", "error", err)
		}
	})
	return b
}

// close reads what is there once more.
func (b *bypassLog) close() {
	b.stop()
	b.ended.Wait()
}
