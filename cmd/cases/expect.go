package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An expectation is a number to check at the end of a case.
type expectation struct {
	text     string
	name     string // creates, requests, updates, resolves, reopens, or counter:NAME
	min, max int
}

var expectForm = regexp.MustCompile(`^(?:counter=(\S+?)\s*(>=|=)|(creates|requests|updates|resolves|reopens)=)\s*(\d+)(?:\.\.(\d+))?$`)

func parseExpectation(s string) (expectation, error) {
	m := expectForm.FindStringSubmatch(s)
	if m == nil {
		return expectation{}, fmt.Errorf("expect: %q is not understood", s)
	}
	e := expectation{text: s, name: m[3]}
	if m[1] != "" {
		e.name = "counter:" + m[1]
	}
	var err error
	if e.min, err = strconv.Atoi(m[4]); err != nil {
		return e, fmt.Errorf("expect: %q: %w", s, err)
	}
	e.max = e.min
	if m[5] != "" {
		if e.max, err = strconv.Atoi(m[5]); err != nil {
			return e, fmt.Errorf("expect: %q: %w", s, err)
		}
	}
	if m[2] == ">=" {
		e.max = math.MaxInt
	}
	return e, nil
}

func (e expectation) holds(n int) bool { return e.min <= n && n <= e.max }

// checkExpectations compares the numbers at the end of a case.
func (r *run) checkExpectations() {
	counts := r.backend.counts()
	for _, e := range r.script.Expect {
		counter, isCounter := strings.CutPrefix(e.name, "counter:")
		if !isCounter {
			if n := counts[e.name]; !e.holds(n) {
				r.found("end", e.text, fmt.Sprintf("%s=%d", e.name, n))
			}
			continue
		}
		n, err := r.counter(counter, e)
		switch {
		case err != nil:
			r.found("end", e.text, err.Error())
		case !e.holds(n):
			r.found("end", e.text, fmt.Sprintf("%s=%d", counter, n))
		}
	}
}

// counter reads a counter until it holds: it may move after the answer.
func (r *run) counter(name string, e expectation) (int, error) {
	var n int
	err := error(nil)
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		n, err = r.readCounter(name)
		if err != nil || e.holds(n) || time.Now().After(deadline) {
			return n, err
		}
	}
}

// readCounter adds up the counter over all processes.
func (r *run) readCounter(name string) (int, error) {
	if len(r.products) == 0 {
		return 0, fmt.Errorf("no oneticket that counts")
	}
	sum := 0
	for _, p := range r.products {
		n, err := readCounter(p.admin, name)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
