package main

import "github.com/spf13/cobra"

func newRunCommand(c *common) *cobra.Command {
	var envoyPath string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the filter, and Envoy configured for it",
		Long: `run reads the configuration, starts the filter and an Envoy that is configured
for it, and stands in for each backend on the backend's listen address. It ends
with Envoy, or on SIGTERM after the creates that are under way are settled.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(c)
			if err != nil {
				return err
			}
			p, err := newProcess(c, cfg, envoyPath)
			if err != nil {
				return err
			}
			return p.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&envoyPath, "envoy", "", "the Envoy at `PATH` (else ONETICKET_ENVOY, the folder of make tools, PATH)")
	return cmd
}
