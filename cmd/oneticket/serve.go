package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"oneticket/cmd/oneticket/admin"
	"oneticket/extproc"
)

func newServeCommand(c *common) *cobra.Command {
	var logs string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the filter alone, beside an Envoy that somebody else runs",
		Long: `serve reads the configuration and answers the Envoy that reaches it on the
setting socket: "unix:PATH?mode=0660&group=N", or HOST:PORT with
tls = { cert, key, ca }. "oneticket envoy" prints what that Envoy needs, and
"oneticket doctor" finds out whether it has it.

What the envoy block says of that Envoy is believed: the filter answers sooner
than the Envoy gives up. It ends on SIGTERM, after the creates that are under
way are settled.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadForServe(c)
			if err != nil {
				return err
			}
			p, err := newProcess(c, cfg, "")
			if err != nil {
				return err
			}
			p.serves, p.logs = true, logs
			return p.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&logs, "log-dir", "", "the folder where the Envoy writes the bypass log (default: state_dir)")
	return cmd
}

// front is what the process waits for before it is ready.
func (p *process) front() string {
	if p.serves {
		return "filter"
	}
	return "envoy"
}

// A stand is the front of serve: there is nothing to run, only to say what is
// where.
type stand struct {
	p         *process
	socket    *socket
	proxy     proxy
	readiness *readiness
	now       *inForce
	dir       *stateDir
	metrics   *admin.Metrics
	calls     *extproc.Caller
	letters   *letterBox
	bypass    *bypassLog
}

func newStand(p *process, s *socket, px proxy, r *readiness, now *inForce, dir *stateDir, m *admin.Metrics, calls *extproc.Caller, letters *letterBox) *stand {
	return &stand{p: p, socket: s, proxy: px, readiness: r, now: now, dir: dir, metrics: m, calls: calls, letters: letters}
}

func (s *stand) start(context.Context) error {
	for _, b := range s.p.config.Backends {
		fmt.Fprintf(s.p.say, "%-12s %s  (%s)\n", b.Name, b.URL, actions(s.p.config, b.Name))
	}
	fmt.Fprintf(s.p.say, "%-12s %s\n", "filter", s.socket.place)
	fmt.Fprintf(s.p.say, "%-12s %s  (believed; \"oneticket doctor\" finds out)\n", "envoy", s.proxy)
	fmt.Fprintf(s.p.say, "%-12s %s\n", "store", s.readiness.store)
	fmt.Fprintf(s.p.say, "%-12s http://%s  (/metrics /live /ready)\n", "admin", s.readiness.admin)
	fmt.Fprintf(s.p.say, "%-12s %s\n", "ready", s.dir.path)
	s.calls.Use(directOutlets(s.p.config))
	s.letters.use(listeners(s.p.config))
	s.bypass = readBypassLog(cmp.Or(s.p.logs, s.dir.path), nil, s.now, s.metrics, s.p.log)
	s.readiness.set()
	return nil
}

func (s *stand) stop(context.Context) error {
	s.readiness.unset()
	s.bypass.close()
	return nil
}

func (px proxy) String() string {
	most, retries := "no max_message_timeout", "unknown retries"
	if px.patience.Most > 0 {
		most = fmt.Sprintf("max_message_timeout %v", px.patience.Most)
	}
	if px.safeRetries {
		retries = "safe retries"
	}
	return fmt.Sprintf("message_timeout %v, %s, %s", px.patience.Message, most, retries)
}
