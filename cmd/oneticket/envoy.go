package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"oneticket/config"
	"oneticket/extproc/envoy"
)

// envoyFlags say what the configuration does not know of somebody else's Envoy.
type envoyFlags struct {
	target string
	remote envoy.Remote
	logs   string
	roots  string
	mesh   envoy.Mesh
}

func newEnvoyCommand(c *common) *cobra.Command {
	var f envoyFlags
	cmd := &cobra.Command{
		Use:   "envoy --for " + strings.Join(envoy.Targets, "|"),
		Short: "Print what an Envoy that somebody else runs needs",
		Long: `envoy prints, on stdout, the configuration of an Envoy in front of
"oneticket serve": the filter, off but for the routes that may open a ticket; our
limits and timeouts; retries that open no second ticket; and the logs.

  static         pieces to paste into a configuration that is there
  bootstrap      a whole configuration
  istio          objects for Istio: what the pods of an app send is guarded
  envoy-gateway  objects for Envoy Gateway

Then it says, on stderr, which envoy block makes serve believe in it. Paths are
those of the Envoy: of its certificates, and of the folder for the bypass log.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := loadForServe(c)
			if err != nil {
				return err
			}
			return c.printEnvoy(cfg, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.target, "for", "", strings.Join(envoy.Targets, ", "))
	flags.StringVar(&f.remote.Address, "filter", "", "`HOST:PORT` by which the Envoy reaches the filter (default: the setting socket)")
	flags.StringVar(&f.remote.Cert, "cert", "/etc/oneticket/envoy.crt", "the Envoy's own certificate, for a filter on HOST:PORT")
	flags.StringVar(&f.remote.Key, "key", "/etc/oneticket/envoy.key", "its key")
	flags.StringVar(&f.remote.CA, "ca", "/etc/oneticket/ca.crt", "what signs the filter's certificate")
	flags.StringVar(&f.remote.Name, "name", "", "the name in the filter's certificate (default: HOST)")
	flags.StringVar(&f.logs, "log-dir", "", "the folder of the bypass log (default: state_dir)")
	flags.StringVar(&f.roots, "roots", "/etc/ssl/certs/ca-certificates.crt", "the file of certificates by which the Envoy checks https backends")
	flags.StringVar(&f.mesh.Namespace, "namespace", "default", "of objects of Kubernetes")
	flags.StringVar(&f.mesh.App, "app", "automation", "label app of the pods to guard, for istio")
	_ = cmd.MarkFlagRequired("for") // the flag is there
	return cmd
}

func (c *common) printEnvoy(cfg *config.Config, f envoyFlags) error {
	spec, err := foreignSpec(cfg, f.remote)
	if err != nil {
		return err
	}
	spec.Roots = f.roots
	if f.logs != "" {
		spec.StateDir = f.logs
	}
	text, err := envoy.Foreign(f.target, spec, f.mesh)
	if err != nil {
		return err
	}
	if _, err := c.stdout.Write(text); err != nil {
		return err
	}
	block := spec.BelievedBy()
	if f.target == "envoy-gateway" {
		block = spec.BelievedByGateway()
	}
	fmt.Fprintf(c.stderr, "serve believes in it with this block in %s:\n\n%s\n", c.configPath, block)
	return nil
}

// foreignSpec is what the configuration wants of somebody else's Envoy.
func foreignSpec(cfg *config.Config, remote envoy.Remote) (envoy.Spec, error) {
	dir, err := filepath.Abs(cfg.StateDir)
	if err != nil {
		return envoy.Spec{}, fmt.Errorf("state_dir %q: %w", cfg.StateDir, err)
	}
	quiet := &process{log: slog.New(slog.DiscardHandler), serves: true}
	spec, err := newSpec(quiet, cfg, &stateDir{path: dir})
	if err != nil {
		return envoy.Spec{}, err
	}
	_, _, _, isUnix := config.UnixSocket(cfg.Socket)
	if onNetwork := cfg.Socket != "" && !isUnix; onNetwork || remote.Address != "" {
		remote.Address = cmp.Or(remote.Address, cfg.Socket)
		spec.Remote = remote
	}
	return spec, nil
}
