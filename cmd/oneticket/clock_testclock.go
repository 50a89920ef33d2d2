//go:build testclock

package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// storeOffset is what is added to the store's clock in builds for tests: the
// whole nanoseconds in the file that ONETICKET_TEST_CLOCK names, read at every
// call. An absent or unreadable file is no offset.
var storeOffset = func() time.Duration {
	text, err := os.ReadFile(os.Getenv("ONETICKET_TEST_CLOCK"))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}
