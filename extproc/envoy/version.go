package envoy

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Least is the oldest Envoy that works: one before it does not tell the filter
// of its own answers (a refused connection, a timeout).
const Least = "1.37"

var versionLine = regexp.MustCompile(`version: [0-9a-f]+/([0-9]+\.[0-9]+\.[0-9]+)`)

// Version returns the version of the Envoy at path, such as "1.40.0".
func Version(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s --version: no Envoy says %.100q", path, out)
	}
	return string(m[1]), nil
}

// Supported judges a version: the error says that it is too old, the warning,
// where there is one, that the tree was tested with another.
func Supported(version string) (warning string, err error) {
	if older(version, Least) {
		return "", fmt.Errorf("envoy %s is too old: %s or newer is needed, %s is tested", version, Least, Pinned)
	}
	if version != Pinned {
		return fmt.Sprintf("envoy %s is not the tested %s", version, Pinned), nil
	}
	return "", nil
}

// older compares as many numbers as both have.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	return false
}
