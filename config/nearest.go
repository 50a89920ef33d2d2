package config

import (
	"fmt"
	"slices"
	"strings"
)

// listed joins names for a message.
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// choices lists what is allowed, and then the hint; of a long list only the
// hint, if there is one: nobody reads fifty names.
func choices(lead string, names []string, hint string) string {
	const long = 16
	if hint != "" && len(names) > long {
		return strings.TrimSpace(hint) + " All names are in config/REFERENCE.md."
	}
	return lead + " " + listed(names) + "." + hint
}

// known lists what there is to choose from.
func known(kind string, names []string) string {
	switch len(names) {
	case 0:
		return "There is no " + kind + "."
	case 1:
		return "There is one " + kind + ": " + names[0] + "."
	}
	return "There are " + listed(names) + "."
}

// nearest is a hint at the name that was probably meant, or "".
func nearest(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return fmt.Sprintf(" Did you mean %q?", best)
	}
	return ""
}

// Nearest returns the name that was probably meant by one that is not among
// names, or "". Case and the kind of dash make no difference.
func Nearest(name string, names []string) string {
	best, distance := "", 1+max(1, len(name)/3)
	for _, candidate := range names {
		if d := editDistance(plain(name), plain(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return contained(plain(name), names)
	}
	return best
}

func plain(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// contained is the longest name that is a part of the given one, as "lower" is
// of "tolower", or that the given one begins.
func contained(name string, names []string) string {
	const least = 4 // shorter ones stand in many words by chance
	fits := func(candidate string) bool {
		c := plain(candidate)
		return len(c) >= least && strings.Contains(name, c) || len(name) >= least && strings.HasPrefix(c, name)
	}
	longest := ""
	for _, candidate := range slices.Sorted(slices.Values(names)) {
		if fits(candidate) && len(candidate) > len(longest) {
			longest = candidate
		}
	}
	return longest
}

// editDistance is Levenshtein's, over bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
