package config

import (
	"maps"
	"slices"
	"time"
)

// LoadForRun is Load, and reads the certificates that the listeners show as
// well: each has to be there, and to go with its key. Their contents are part
// of the Hash, and their files of Files, so that a new certificate is a change.
func LoadForRun(path string) (*Config, Diagnostics) {
	c, diags := Load(path)
	if c == nil {
		return nil, diags
	}
	read := map[string][]byte{}
	for _, b := range c.Backends {
		if b.TLS.On() {
			diags.list = append(diags.list, b.TLS.load(read, time.Now())...)
		}
	}
	if len(read) > 0 {
		c.Files = append(slices.Clone(c.Files), slices.Sorted(maps.Keys(read))...)
		read[""] = []byte(c.Hash) // no file has that name
		c.Hash = hash(read)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return c, diags
}
