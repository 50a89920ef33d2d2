package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// An act is something that somebody does outside.
type act struct {
	form *regexp.Regexp
	do   func(r *run, m []string) error
}

var acts = []act{
	{regexp.MustCompile(`^(?:sets|moves) T(\d+) to (?:state )?(?:6|7|solved|closed|resolved|done)\b`), byHand("close")},
	{regexp.MustCompile(`^(?:closes|resolves|solves) T(\d+)\b`), byHand("close")},
	{regexp.MustCompile(`^(?:sets|moves) T(\d+) to (?:state )?\S+`), byHand("open")},
	{regexp.MustCompile(`^(?:reopens|opens) T(\d+)\b`), byHand("open")},
	{regexp.MustCompile(`^(?:deletes|removes) T(\d+)\b`), byHand("delete")},
	{regexp.MustCompile(`^makes T(\d+) by hand with the \S+ of this key$`), byHand("make")},
	{regexp.MustCompile(`^closes the backend's port$`), func(r *run, _ []string) error { r.closePorts(); return nil }},
	{regexp.MustCompile(`^opens the backend's port$`), func(r *run, _ []string) error { return r.openPorts() }},
	{regexp.MustCompile(`^stops the store$`), func(r *run, _ []string) error { return r.stopStore() }},
	{regexp.MustCompile(`^starts the store$`), func(r *run, _ []string) error { return r.startStore() }},
	{regexp.MustCompile(`^restarts (?:the )?(?:sidecar|oneticket)$`), func(r *run, _ []string) error { return r.restart() }},
}

func byHand(what string) func(r *run, m []string) error {
	return func(r *run, m []string) error {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return err
		}
		return r.backend.byHand(what, n)
	}
}

// human does what the text of a human block says.
func (r *run) human(text string) error {
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	for _, a := range acts {
		if m := a.form.FindStringSubmatch(text); m != nil {
			return a.do(r, m)
		}
	}
	return fmt.Errorf("nobody here knows how to do %q", text)
}

func (r *run) closePorts() {
	for _, p := range r.ports {
		p.close()
	}
}

func (r *run) openPorts() error {
	for _, p := range r.ports {
		if err := p.open(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) stopStore() error {
	if r.redis == nil {
		return fmt.Errorf("the case has no store of its own to stop")
	}
	return r.redis.stop()
}

func (r *run) startStore() error {
	if r.redis == nil {
		return fmt.Errorf("the case has no store of its own to start")
	}
	return r.redis.start()
}
