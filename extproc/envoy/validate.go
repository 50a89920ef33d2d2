package envoy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
)

// logFormat is read back by parseLine.
const logFormat = "[%l] [%n] %v"

// Validate asks the Envoy at path whether it would run with the configuration.
// The error has Envoy's own words, shortened.
func Validate(ctx context.Context, path string, bootstrap *bootstrapv3.Bootstrap) error {
	raw, err := JSON(bootstrap)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "oneticket-validate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "envoy.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, "--mode", "validate", "-c", file,
		"--disable-hot-restart", "--log-level", "error", "--log-format", logFormat)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("envoy --mode validate: %w", context.Cause(ctx))
	}
	if err != nil {
		said := strings.ReplaceAll(string(out), file, "envoy.json")
		return fmt.Errorf("envoy --mode validate: %w: %s", err, shorten(strings.Split(said, "\n")))
	}
	return nil
}

// saidLimit bounds how much of Envoy's words go into an error: it likes to
// print whole configurations.
const saidLimit = 800

// shorten makes one line of what Envoy said, without the marks of its log.
func shorten(lines []string) string {
	var said []string
	for _, line := range lines {
		line = strings.TrimSpace(parseLine(line).text)
		if line != "" && (len(said) == 0 || said[len(said)-1] != line) {
			said = append(said, line)
		}
	}
	text := strings.Join(said, "; ")
	if len(text) > saidLimit {
		text = strings.ToValidUTF8(text[:saidLimit], "") + " ..."
	}
	return text
}
