package main

import (
	"maps"
	"slices"
	"strings"

	"oneticket/dedup"
	"oneticket/extproc"
)

// credentialsOf are those that the configuration gives a backend, in the places
// of a call of ours: headers, and parameters as "query.NAME". A member of
// a body is for a replay only: the body of another call is written by us.
func credentialsOf(configured map[string]string) extproc.Credentials {
	var header, query []dedup.HeaderField
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		value := configured[name]
		switch parameter, inQuery := strings.CutPrefix(name, "query."); {
		case inQuery:
			query = append(query, dedup.HeaderField{Name: parameter, Value: value})
		case !strings.HasPrefix(name, "body."):
			header = append(header, dedup.HeaderField{Name: strings.ToLower(name), Value: value})
		}
	}
	return extproc.CredentialsOf(header...).WithQuery(query...)
}
