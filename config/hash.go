package config

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
)

// hashDigits is enough to tell the configurations of one installation apart.
const hashDigits = 16

// hash is over the contents of the files and of the presets in use, in the
// order of their names; where they lie does not matter. What env() gave is not
// in it: it may be a secret.
func hash(files map[string][]byte) string {
	names := slices.Sorted(maps.Keys(files))
	h := sha256.New()
	for _, name := range names {
		content := sha256.Sum256(files[name])
		h.Write([]byte(filepath.Base(name)))
		h.Write([]byte{0})
		h.Write(content[:])
	}
	return hex.EncodeToString(h.Sum(nil))[:hashDigits]
}
