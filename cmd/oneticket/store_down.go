package main

import (
	"fmt"
	"time"

	"oneticket/cmd/oneticket/admin"
)

// storeSentences say of a store that does not answer which it is and since
// when; place is where it is.
func storeSentences(m *admin.Metrics, place string) []string {
	var sentences []string
	for _, down := range m.StoresDown() {
		sentences = append(sentences, fmt.Sprintf("the store %s is out of reach since %s: creates pass untouched, and a fault may get a second ticket",
			place, down.Since.UTC().Format(time.RFC3339)))
	}
	return sentences
}
