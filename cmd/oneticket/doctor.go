package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"oneticket/cmd/oneticket/doctor"
	"oneticket/config"
	"oneticket/extproc"
)

// doctorFlags say how requests go through the Envoy.
type doctorFlags struct {
	backend string
	scratch string
	host    string
	method  string
	asJSON  bool
}

func newDoctorCommand(c *common) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor URL",
		Short: "Send marked requests through an Envoy, and say what is wrong with it",
		Long: `doctor takes the place of "oneticket serve" on the setting socket, and the place
of the ticket system on --backend-listen. It sends marked creates to URL, which
is one of the Envoy in front, and says line by line whether that Envoy does what
the filter relies on: what was found, why it matters, what to set. It takes less
than a minute; the exit status is 1 when something is wrong.

Before it: stop serve, and let the cluster of the backend lead to the address of
--backend-listen. Requests of others pass unguarded meanwhile, so this is for
before the Envoy goes into service, or for its twin. The first request is one
that no ticket system takes for a create; when it does not arrive at
--backend-listen, nothing more is sent.`,
		Args: oneArgument("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadForServe(c)
			if err != nil {
				return err
			}
			return c.examine(cmd.Context(), cfg, args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scratch, "backend-listen", "127.0.0.1:9912", "`HOST:PORT` to which the Envoy's route leads for the time being")
	flags.StringVar(&f.backend, "backend", "", "the backend whose route it is, when there are several")
	flags.StringVar(&f.host, "host", "", "Host of the requests (default: that of URL)")
	flags.StringVar(&f.method, "method", http.MethodPost, "method of the requests")
	flags.BoolVar(&f.asJSON, "json", false, "write the findings to stdout as JSON")
	return cmd
}

func (c *common) examine(ctx context.Context, cfg *config.Config, raw string, f doctorFlags) error {
	target, err := url.Parse(raw)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return fmt.Errorf("%q is no URL: want http://HOST:PORT/PATH of a create through the Envoy", raw)
	}
	backend, err := backendNamed(cfg, f.backend)
	if err != nil {
		return err
	}
	p, err := newProcess(c, cfg, "")
	if err != nil {
		return err
	}
	p.serves = true
	dir, err := newStateDir(cfg)
	if err != nil {
		return fmt.Errorf("%w; doctor stands in for serve, which has to be stopped", err)
	}
	defer dir.release()
	options, err := p.examination(cfg, dir, f.scratch)
	if err != nil {
		return err
	}
	options.URL, options.Host, options.Method, options.FailClosed = target, f.host, f.method, backend.FailClosed
	findings, err := doctor.Run(ctx, options)
	if err != nil {
		return err
	}
	return c.tellFindings(findings, f.asJSON)
}

// examination opens the sockets, and says what serve would believe.
func (p *process) examination(cfg *config.Config, dir *stateDir, scratch string) (doctor.Options, error) {
	spec, err := newSpec(p, cfg, dir)
	if err != nil {
		return doctor.Options{}, err
	}
	px, err := newProxy(p, cfg, spec)
	if err != nil {
		return doctor.Options{}, err
	}
	l, err := settingSocket(cfg, spec.Socket)(p.log)
	if err != nil {
		return doctor.Options{}, fmt.Errorf("socket: %w", err)
	}
	backend, err := net.Listen("tcp", scratch)
	if err != nil {
		l.Close()
		return doctor.Options{}, fmt.Errorf("--backend-listen: %w", err)
	}
	return doctor.Options{
		Filter:            l.Listener,
		Server:            append(extproc.ServerOptions(px.bufferLimit), l.options...),
		Backend:           backend,
		MessageTimeout:    px.patience.Message,
		MaxMessageTimeout: px.patience.Most,
		MaxBody:           int(cfg.Limits.MaxBody),
		SafeRetries:       px.safeRetries,
	}, nil
}

// tellFindings writes them to stdout; something that is wrong is an error.
func (c *common) tellFindings(findings []doctor.Finding, asJSON bool) error {
	wrong := 0
	for _, f := range findings {
		if f.Verdict == doctor.Fail {
			wrong++
		}
		if asJSON {
			continue
		}
		if err := f.Write(c.stdout); err != nil {
			return err
		}
	}
	if asJSON {
		out := json.NewEncoder(c.stdout)
		out.SetIndent("", "  ")
		if err := out.Encode(findings); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%s wrong with this Envoy", number(wrong, "thing"))
	}
	return nil
}

func backendNamed(cfg *config.Config, name string) (*config.Backend, error) {
	if name == "" && len(cfg.Backends) == 1 {
		return cfg.Backends[0], nil
	}
	if b := cfg.Backend(name); b != nil {
		return b, nil
	}
	var names []string
	for _, b := range cfg.Backends {
		names = append(names, b.Name)
	}
	if name == "" {
		return nil, errors.New("--backend is needed, there are several: " + strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("no backend %q: there are %s", name, strings.Join(names, ", "))
}
