package redisstore

import (
	"context"
	"log/slog"
)

// Once makes the client library send each call once, so that a history shows
// single calls.
func (o Options) Once() Options {
	o.once = true
	return o
}

// LibraryLog is what the client library logs to.
func LibraryLog(to *slog.Logger) interface {
	Printf(context.Context, string, ...any)
} {
	return libraryLog{to}
}
