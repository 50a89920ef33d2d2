package redisstore_test

import (
	"log/slog"
	"strings"
	"testing"

	"oneticket/dedup/redisstore"
)

// TestTheClientLibraryIsHeardOnlyByWhoDebugs: while a server is away it reports
// each try of each connection.
func TestTheClientLibraryIsHeardOnlyByWhoDebugs(t *testing.T) {
	for level, heard := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		var said strings.Builder
		log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: level}))
		redisstore.LibraryLog(log).Printf(t.Context(), "dial %s", "127.0.0.1:1")
		if got := strings.Contains(said.String(), "dial 127.0.0.1:1"); got != heard {
			t.Errorf("%s: %q", level, said.String())
		}
	}
	redisstore.LibraryLog(nil).Printf(t.Context(), "dial")
}
