package main

import (
	"sync/atomic"

	"oneticket/config"
)

// inForce is the configuration in force, for parts that look at it now and then
// while a reload may replace it.
type inForce struct{ current atomic.Pointer[config.Config] }

func newInForce(cfg *config.Config) *inForce {
	f := &inForce{}
	f.use(cfg)
	return f
}

func (f *inForce) use(cfg *config.Config) { f.current.Store(cfg.Connected(connected)) }
func (f *inForce) config() *config.Config { return f.current.Load() }
