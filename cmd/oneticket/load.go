package main

import (
	"fmt"

	"oneticket/config"
)

// loadConfig writes every mistake and warning to stderr; its own error only
// says that there were some, and nothing when there was one.
func loadConfig(c *common) (*config.Config, error) {
	cfg, diags := config.LoadForRun(c.configPath)
	return cfg, c.told(diags)
}

// loadForServe is loadConfig without the warnings that are about run alone.
func loadForServe(c *common) (*config.Config, error) {
	cfg, diags := config.Load(c.configPath)
	return cfg, c.told(diags.ForServe())
}

// loadBeside is loadConfig for a command beside the process: that has shown the
// warnings already.
func loadBeside(c *common) (*config.Config, error) {
	cfg, diags := config.Load(c.configPath)
	return cfg, c.told(diags.Mistakes())
}

// loadStore is loadConfig for a command that needs the store and the names of
// the rules: what the process has in its environment need not be in this one.
func loadStore(c *common) (*config.Config, error) {
	cfg, diags := config.LoadStore(c.configPath)
	return cfg, c.told(diags)
}

func (c *common) told(diags config.Diagnostics) error {
	if diags.Len() > 0 {
		if _, err := diags.WriteTo(c.stderr); err != nil {
			return err
		}
	}
	if n := diags.Errors(); n > 1 {
		return fmt.Errorf("%s has %d mistakes, see above", c.configPath, n)
	} else if n == 1 {
		return errSaid
	}
	return nil
}
