package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// clockVariable names the file from which a store built for tests reads the
// offset to its own clock, in nanoseconds.
const clockVariable = "ONETICKET_TEST_CLOCK"

// A caseClock is the time of a case: real time plus all that was skipped.
type caseClock struct {
	start time.Time
	file  string // "" = nobody follows

	mu     sync.Mutex
	offset time.Duration
}

func newCaseClock(file string) (*caseClock, error) {
	c := &caseClock{start: time.Now(), file: file}
	return c, c.write(0)
}

// now is the case's time since its start.
func (c *caseClock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.start) + c.offset
}

// wall is the case's time of day.
func (c *caseClock) wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

// restart makes this moment the case's beginning.
func (c *caseClock) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start = time.Now().Add(c.offset)
}

// skip moves the clock.
func (c *caseClock) skip(d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	return c.write(c.offset)
}

// write replaces the file in one step, so that no reader sees half of it.
func (c *caseClock) write(offset time.Duration) error {
	if c.file == "" {
		return nil
	}
	next := c.file + ".next"
	if err := os.WriteFile(next, []byte(strconv.FormatInt(int64(offset), 10)), 0o600); err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	if err := os.Rename(next, c.file); err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	return nil
}
