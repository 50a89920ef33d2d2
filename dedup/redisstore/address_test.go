package redisstore_test

import (
	"errors"
	"strings"
	"testing"

	"oneticket/dedup/redisstore"
)

func TestNoErrorTellsThePassword(t *testing.T) {
	s := serve(t)
	s.do("ACL", "SETUSER", "default", ">right")
	for name, url := range map[string]string{
		"a wrong password":             "redis://:hunter2@" + s.addr,
		"a wrong user":                 "redis://hunter2:hunter2@" + s.addr,
		"nobody is there":              "redis://:hunter2@" + freeAddr(t),
		"a slash in it":                "redis://:hunter2/hunter2@" + s.addr,
		"a question mark in it":        "redis://:x?hunter2@" + s.addr,
		"a question mark, no colon":    "redis://x?hunter2@" + s.addr,
		"a number sign in it":          "redis://:1#hunter2@" + s.addr,
		"a percent sign in it":         "redis://:hunter2%zz@" + s.addr,
		"a bracket in it":              "redis://:[hunter2@" + s.addr,
		"an @ in it":                   "redis://:x@hunter2@" + s.addr + "/x",
		"no number of a database":      "redis://:hunter2@" + s.addr + "/faults",
		"an option nobody knows":       "redis://:hunter2@" + s.addr + "?hunter2=1",
		"an option with another value": "redis://:hunter2@" + s.addr + "?protocol=hunter2",
		"another scheme":               "hunter2://" + s.addr,
		"no scheme":                    ":hunter2@" + s.addr,
		"a socket without a path":      "unix://:hunter2@",
	} {
		t.Run(name, func(t *testing.T) {
			store, err := redisstore.Open(t.Context(), redisstore.Options{URL: url})
			if err == nil {
				store.Close()
				t.Fatal("no error")
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), "hunter2") {
					t.Errorf("%q", e)
				}
			}
		})
	}
}

func TestMistakesInTheOptionsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		o     redisstore.Options
		words []string
	}{
		"nothing":             {redisstore.Options{}, []string{"url, sentinel and cluster"}},
		"both":                {redisstore.Options{Sentinel: redisstore.Sentinel{Master: "m", Addrs: []string{"a:1"}}, Cluster: []string{"b:1"}}, []string{"both"}},
		"no sentinels":        {redisstore.Options{Sentinel: redisstore.Sentinel{Master: "m"}}, []string{"m has no addresses"}},
		"no master":           {redisstore.Options{Sentinel: redisstore.Sentinel{Addrs: []string{"a:1"}}}, []string{"name of the master"}},
		"a tag in the prefix": {redisstore.Options{URL: "redis://x", Prefix: "{one}"}, []string{"{one}"}},
		"a database":          {redisstore.Options{URL: "redis://x/3", Cluster: []string{"b:1"}}, []string{"database"}},
		"another option":      {redisstore.Options{URL: "redis://x?db=1&max_retries=3"}, []string{"db, protocol, client_name"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := redisstore.New(c.o)
			mentions(t, err, c.words...)
		})
	}
}

func TestAddressesOfEveryForm(t *testing.T) {
	s := serve(t)
	s.do("ACL", "SETUSER", "one", "on", ">p/ss", "~*", "+@all")
	for name, o := range map[string]redisstore.Options{
		"TCP":                     {URL: "redis://one:p%2Fss@" + s.addr},
		"a database in the path":  {URL: "redis://one:p%2Fss@" + s.addr + "/3"},
		"a database as an option": {URL: "redis://one:p%2Fss@" + s.addr + "?db=3&client_name=oneticket&protocol=2"},
		"a socket":                {URL: "unix://one:p%2Fss@" + s.sock + "?db=4"},
		"a prefix":                {URL: "redis://" + s.addr, Prefix: "noc:oneticket"},
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t, o)
			if err := store.Delete(t.Context(), refOf("form")); err != nil {
				t.Fatal(err)
			}
			opened(t, store, refOf(name))
		})
	}
	for db, want := range map[int]int64{0: 4, 3: 3, 4: 2} {
		c := s.admin()
		if _, err := c.Do(t.Context(), "SELECT", db).Result(); err != nil {
			t.Fatal(err)
		}
		if n := c.DBSize(t.Context()).Val(); n != want {
			t.Errorf("database %d has %d keys, want %d", db, n, want)
		}
	}
}
