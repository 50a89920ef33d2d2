package pgstore_test

import (
	"errors"
	"strings"
	"testing"

	"oneticket/dedup/pgstore"
	"oneticket/dedup/pgstore/pgtest"
)

func TestNoErrorTellsThePassword(t *testing.T) {
	s := pgtest.Shared(t)
	s.Do(t, "DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'right'")
	for name, url := range map[string]string{
		"a wrong password":             "postgres://guarded:hunter2@" + s.Addr + "/postgres?sslmode=disable",
		"a wrong password, no TLS":     "postgres://guarded:hunter2@" + s.Addr + "/postgres?sslmode=require",
		"no such database":             "postgres://postgres:hunter2@" + s.Addr + "/faults?sslmode=disable",
		"nobody is there":              "postgres://guarded:hunter2@127.0.0.1:1/postgres",
		"nobody is there, twice":       "postgres://guarded:hunter2@127.0.0.1:1,127.0.0.1:2/postgres",
		"as an option":                 "postgres://127.0.0.1:1/postgres?user=guarded&password=hunter2",
		"a slash in it":                "postgres://guarded:hunter2/hunter2@" + s.Addr + "/postgres",
		"a question mark in it":        "postgres://guarded:x?hunter2@" + s.Addr + "/postgres",
		"a question mark, no colon":    "postgres://x?hunter2@" + s.Addr,
		"a number sign in it":          "postgres://guarded:1#hunter2@" + s.Addr,
		"a percent sign in it":         "postgres://guarded:hunter2%zz@" + s.Addr,
		"a bracket in it":              "postgres://guarded:[hunter2@" + s.Addr,
		"an @ in it":                   "postgres://guarded:x@hunter2@" + s.Addr + "/x",
		"an @ and a colon in it":       "postgres://guarded:x@hunter2:7@" + s.Addr + "/x",
		"a comma and a colon in it":    "postgres://guarded:x,hunter2:hunter2/" + s.Addr + "/x",
		"an option nobody knows":       "postgres://guarded:x@" + s.Addr + "/postgres?hunter2=1",
		"an option with another value": "postgres://guarded:x@" + s.Addr + "/postgres?sslmode=hunter2",
		"a file that is not there":     "postgres://guarded:hunter2@" + s.Addr + "/postgres?sslmode=verify-full&sslrootcert=/hunter2",
		"another scheme":               "hunter2://" + s.Addr,
		"the other form":               "host=127.0.0.1 password=hunter2",
		"no scheme":                    ":hunter2@" + s.Addr,
	} {
		t.Run(name, func(t *testing.T) {
			store, err := pgstore.Open(t.Context(), pgstore.Options{URL: url})
			if err == nil {
				store.Close()
				t.Fatal("no error")
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), "hunter2") || strings.Contains(e.Error(), "\n") || strings.Contains(e.Error(), "failed to") {
					t.Errorf("%q", e)
				}
			}
			if place := pgstore.Place(url); strings.Contains(place, "hunter2") && !strings.Contains(name, "database") {
				t.Errorf("place %q", place)
			}
		})
	}
}

func TestMistakesInTheOptionsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		o     pgstore.Options
		words []string
	}{
		"nothing":             {pgstore.Options{}, []string{"no url", "postgres://"}},
		"another product":     {pgstore.Options{URL: "redis://x"}, []string{"begin with postgres://"}},
		"an unknown option":   {pgstore.Options{URL: "postgres://x/y?statement_timeout=3"}, []string{"host, port, dbname"}},
		"an unknown mode":     {pgstore.Options{URL: "postgres://x/y?sslmode=no"}, []string{"value"}},
		"a port that is none": {pgstore.Options{URL: "postgres://x:0/y"}, []string{"%XX"}},
		"a reserved schema":   {pgstore.Options{URL: "postgres://x/y", Schema: "pg_one"}, []string{"pg_"}},
		"too long a schema":   {pgstore.Options{URL: "postgres://x/y", Schema: strings.Repeat("x", 64)}, []string{"63"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pgstore.New(c.o)
			mentions(t, err, c.words...)
		})
	}
}

func TestPlacesTellWhereTheStoreIs(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://one:secret@db:6432/faults":                "db:6432/faults",
		"postgresql://one@db/faults?sslmode=disable":          "db:5432/faults",
		"postgres://one:secret@a,b:6432/faults":               "a:5432,b:6432/faults",
		"postgres://one:secret@[::1]:6432/faults":             "[::1]:6432/faults",
		"postgres:///faults?host=/var/run/postgresql&user=me": "/var/run/postgresql/faults",
		"postgres://one:se@cret@db/faults":                    "",
	} {
		if got := pgstore.Place(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func TestAddressesOfEveryForm(t *testing.T) {
	s := pgtest.Shared(t)
	s.Do(t, `DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'p/s?s#w:o@r%d,1'`)
	schema := fresh()
	for name, url := range map[string]string{
		"TCP":                 s.URL(),
		"a socket":            s.SocketURL(),
		"a password":          "postgres://guarded:p%2Fs%3Fs%23w%3Ao%40r%25d%2C1@" + s.Addr + "/postgres",
		"prepared statements": s.URL() + "&default_query_exec_mode=cache_statement&pool_max_conns=1",
		"nothing is cached":   s.URL() + "&default_query_exec_mode=exec",
		"several hosts":       "postgres://postgres@127.0.0.1:1," + s.Addr + "/postgres?sslmode=prefer&connect_timeout=5",
	} {
		t.Run(name, func(t *testing.T) {
			opened(t, open(t, pgstore.Options{URL: url, Schema: schema}), refOf(name))
		})
	}
	if n := count(t, s, schema, "record"); n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}
