package envoy

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

// A line is one line of Envoy's log; level is empty where it goes on with the
// one before.
type line struct{ level, logger, text string }

var linePattern = regexp.MustCompile(`^\[(trace|debug|info|warning|error|critical)\] \[([a-z_0-9.]+)\] (.*)$`)

func parseLine(s string) line {
	if m := linePattern.FindStringSubmatch(s); m != nil {
		return line{level: m[1], logger: m[2], text: m[3]}
	}
	return line{text: s}
}

var levels = map[string]slog.Level{
	"trace": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo,
	"warning": slog.LevelWarn, "error": slog.LevelError, "critical": slog.LevelError,
}

// tailLength is how many of Envoy's last lines the error has when it ends.
const tailLength = 6

// A tail hands Envoy's log on and keeps its last lines.
type tail struct {
	log   *slog.Logger
	level slog.Level
	ends  atomic.Bool // it was told to end, and what it warns of is that it does

	mu   sync.Mutex
	last []string
}

// read takes lines until r ends.
func (t *tail) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		s, err := lines.ReadString('\n')
		if s = strings.TrimRight(s, "\n"); s != "" {
			t.add(s)
		}
		if err != nil {
			return
		}
	}
}

func (t *tail) add(s string) {
	l := parseLine(s)
	if l.level != "" {
		t.level = levels[l.level]
	}
	level := t.level
	if level == slog.LevelWarn && t.ends.Load() {
		level = slog.LevelDebug
	}
	t.log.Log(context.Background(), level, "envoy: "+l.text, "logger", l.logger)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, s)
	t.last = t.last[max(0, len(t.last)-tailLength):]
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return shorten(t.last)
}
