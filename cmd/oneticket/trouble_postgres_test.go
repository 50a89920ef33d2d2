package main_test

import (
	"fmt"
	"testing"

	"oneticket/dedup/pgstore/pgtest"
)

// A troubledPostgres is a server that can be brought into every kind of trouble,
// behind a line that can be cut.
type troubledPostgres struct {
	t      *testing.T
	server *pgtest.Server
	line   *line
	thaw   func()
}

func newTroubledPostgres(t *testing.T) *troubledPostgres {
	t.Helper()
	s := pgtest.For(t)
	s.Do(t, "CREATE ROLE faults LOGIN") // no superuser: those have connections of their own
	s.Do(t, "CREATE DATABASE faults OWNER faults")
	return &troubledPostgres{t: t, server: s, line: newLine(t, s.Addr)}
}

func (p *troubledPostgres) block() string {
	return fmt.Sprintf("store \"postgres\" {\n url = %q\n}\n", "postgres://faults@"+p.line.address+"/faults?sslmode=disable")
}

func (p *troubledPostgres) troubles() []trouble {
	return []trouble{
		{"killed", p.server.Kill, p.start},
		{"frozen", func() { p.thaw = p.server.Freeze() }, func() { p.thaw() }},
		{"read-only",
			func() { p.set("ALTER SYSTEM SET default_transaction_read_only = on") },
			func() { p.set("ALTER SYSTEM RESET default_transaction_read_only") }},
		{"out of connections",
			func() {
				p.server.Do(p.t, "ALTER ROLE faults CONNECTION LIMIT 0")
				p.server.Do(p.t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'faults'")
			},
			func() { p.server.Do(p.t, "ALTER ROLE faults CONNECTION LIMIT -1") }},
		{"cut off", p.line.cut, p.line.mend},
	}
}

func (p *troubledPostgres) start() {
	p.t.Helper()
	if err := p.server.Run(); err != nil {
		p.t.Error(err)
	}
}

func (p *troubledPostgres) set(statement string) {
	p.t.Helper()
	p.server.Do(p.t, statement)
	p.server.Do(p.t, "SELECT pg_reload_conf()")
}
