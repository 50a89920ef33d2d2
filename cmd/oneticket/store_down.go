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
		since := down.Since.UTC().Format(time.RFC3339)
		switch {
		case down.Trouble != "" && down.Store == localStore:
			sentences = append(sentences, fmt.Sprintf("since %s: %s; while the shared store is away, creates pass untouched", since, down.Trouble))
		case down.Trouble != "":
			sentences = append(sentences, fmt.Sprintf("since %s: %s; until then creates pass untouched, and a fault may get a second ticket", since, down.Trouble))
		case down.Store == localStore:
			sentences = append(sentences, fmt.Sprintf("the embedded store %s fails since %s: while the shared one is away, creates pass untouched", localName, since))
		case down.Store == "sqlite":
			sentences = append(sentences, fmt.Sprintf("the store %s is out of reach since %s: creates pass untouched, and a fault may get a second ticket", place, since))
		default:
			sentences = append(sentences, fmt.Sprintf("the store %s is out of reach since %s: this oneticket decides by itself; a fault that others see too may get a second ticket, which is reported when the store is back", place, since))
		}
	}
	return sentences
}
