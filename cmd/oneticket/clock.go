//go:build !testclock

package main

import "time"

// storeOffset is what is added to the store's clock: nothing.
var storeOffset func() time.Duration
