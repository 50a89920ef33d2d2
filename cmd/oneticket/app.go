package main

import (
	"context"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"oneticket/cmd/oneticket/admin"
	"oneticket/dedup"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

// newApp is the process as a list, in the order in which it starts; it stops
// in the reverse order. This file is the only one that knows fx: every part is
// made by a plain constructor that can be used without it.
func newApp(p *process) *fx.App {
	front := withGateway
	if p.serves {
		front = withoutGateway
	}
	return fx.New(
		fx.NopLogger,
		fx.StartTimeout(startTimeout),
		fx.StopTimeout(stopTimeout),
		fx.Supply(p, p.config, p.log),
		fx.Provide(
			admin.NewMetrics,
			newStateDir,
			newInForce,
			newReadiness,
			newSpec,
			newProxy,         // what is known of the Envoy in front
			newOutage,        // knows the rules of what the store's outages leave
			newStore,         // keeps the records
			newMerger,        // merges doubles
			newEngine,        // decides
			newRuleBook,      // what a create is
			newCaller,        // asks the backends
			newLetterBox,     // keeps what has not become a ticket
			newFilter,        // answers the proxy's stream
			newSocket,        // carries it
			newLostFiles,     // notices a file that is taken away
			newCensus,        // counts what is in the store, and asks the backends for the same
			newCloseDesk,     // takes the closes that ticket systems tell of
			newReconcileDesk, // merges the doubles of an outage
			newReloader,      // puts a changed configuration into force
			newAdmin,         // shows all that to the operator
		),
		fx.Invoke(
			(*outage).meet,
			func(lc fx.Lifecycle, s *stateDir) { lc.Append(fx.Hook{OnStop: ignoringContext(s.release)}) },
			func(lc fx.Lifecycle, s dedup.Store) { lc.Append(fx.Hook{OnStop: ignoringContext(s.Close)}) },
			func(lc fx.Lifecycle, e *dedup.Engine) {
				lc.Append(fx.Hook{OnStop: func(context.Context) error { e.Close(); return nil }})
			},
			func(lc fx.Lifecycle, b *ruleBook) {
				lc.Append(fx.Hook{OnStart: func(context.Context) error { b.watch(); return nil }, OnStop: func(context.Context) error { b.close(); return nil }})
			},
			func(lc fx.Lifecycle, b *letterBox) {
				lc.Append(fx.Hook{OnStart: func(context.Context) error { b.start(); return nil }, OnStop: ignoringContext(b.stop)})
			},
			func(lc fx.Lifecycle, c *extproc.Caller) {
				lc.Append(fx.Hook{OnStop: func(context.Context) error { c.Close(); return nil }})
			},
			func(lc fx.Lifecycle, a *admin.Server, p *process) {
				lc.Append(fx.Hook{OnStart: func(context.Context) error { p.goes(a.Serve); return nil }, OnStop: a.Shutdown})
			},
			func(lc fx.Lifecycle, s *socket, p *process) {
				lc.Append(fx.Hook{OnStart: func(context.Context) error { p.goes(s.serve); return nil }, OnStop: s.stop})
			},
		),
		front,
		fx.Invoke(func(lc fx.Lifecycle, l *lostFiles, log *slog.Logger) {
			ctx, stop := context.WithCancel(context.Background())
			lc.Append(fx.Hook{
				OnStart: func(context.Context) error { go l.run(ctx, log); return nil },
				OnStop:  func(context.Context) error { stop(); return nil },
			})
		}),
		fx.Invoke(func(lc fx.Lifecycle, c *census) {
			lc.Append(fx.Hook{OnStart: func(context.Context) error { c.start(); return nil }, OnStop: func(context.Context) error { c.close(); return nil }})
		}),
		fx.Invoke(func(lc fx.Lifecycle, r *reloader) {
			ctx, stop := context.WithCancel(context.Background())
			lc.Append(fx.Hook{
				OnStart: func(context.Context) error { go r.run(ctx); return nil },
				OnStop:  func(context.Context) error { stop(); return nil },
			})
		}),
	)
}

// The front of the process: run has an Envoy of its own, serve has not.
var (
	withGateway = fx.Options(
		fx.Provide(
			envoy.NewControl, // tells the proxy what to do
			newGateway,       // the proxy
		),
		fx.Invoke(func(lc fx.Lifecycle, g *gateway) { lc.Append(fx.Hook{OnStart: g.start, OnStop: g.stop}) }),
	)
	withoutGateway = fx.Options(
		fx.Provide(
			func() (*envoy.Control, *gateway) { return nil, nil },
			newStand,
		),
		fx.Invoke(func(lc fx.Lifecycle, s *stand) { lc.Append(fx.Hook{OnStart: s.start, OnStop: s.stop}) }),
	)
)

const (
	startTimeout = time.Minute
	stopTimeout  = 40 * time.Second // the drain of the proxy, and that of the filter
)

func ignoringContext(f func() error) func(context.Context) error {
	return func(context.Context) error { return f() }
}
