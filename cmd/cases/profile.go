package main

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed profiles/*.hcl
var profileFiles embed.FS

// systems are the ticket systems behind the profiles, by name.
var systems = map[string]system{
	"snow": snow{}, "jira": jira{}, "zd": zd{}, "pd": pd{}, "am": am{}, "form": form{}, "soap": soap{}, "gql": gql{}, "put": put{},
}

// profileText is the configuration of a profile, without addresses.
func profileText(name string) ([]byte, error) {
	if systems[name] == nil {
		known := strings.Join(slices.Sorted(maps.Keys(systems)), ", ")
		return nil, fmt.Errorf("unknown profile %q (known: %s)", name, known)
	}
	return profileFiles.ReadFile("profiles/" + name + ".hcl")
}
