package redisstore

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// libraryLog is the client library's log.
type libraryLog struct{ to *slog.Logger }

// Printf is the client library's; what it reports are connections that came
// and went, at each try of each connection: what is of interest in it comes
// back from the calls as well.
func (l libraryLog) Printf(ctx context.Context, format string, args ...any) {
	if l.to != nil && l.to.Enabled(ctx, slog.LevelDebug) {
		l.to.DebugContext(ctx, fmt.Sprintf(format, args...), "store", "redis")
	}
}

func logTo(to *slog.Logger) { redis.SetLogger(libraryLog{to}) }
