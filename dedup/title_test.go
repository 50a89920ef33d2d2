package dedup_test

import (
	"strings"
	"testing"
	"unicode"

	"oneticket/dedup"
)

func TestATitleWithoutWhatChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ title, want string }{
		"words stay, in lower case":        {"Ring DOWN on core", "ring down on core"},
		"a clock":                          {"link down at 12:31:05", "link down at"},
		"a clock of twelve hours":          {"link down at 3:07pm, 3:07 PM", "link down at"},
		"an instant":                       {"down since 2026-11-29T19:40:14.123Z", "down since"},
		"an instant with a zone":           {"down since 2026-11-29 19:40:14 +01:00 UTC", "down since"},
		"a date in words":                  {"Backup failed on Sun, 29 Nov 2026", "backup failed on"},
		"a date in one word":               {"Backup failed 29-Nov-2026, 29Nov2026", "backup failed"},
		"a percentage":                     {"disk / is 91.5% full (limit 90%)", "disk is full limit"},
		"amounts with units":               {"latency 250ms, lost 3.2GB in 5m30s, 4 days ago", "latency lost in days ago"},
		"a number in a name":               {"core-rtr-7 eth0 down", "core rtr eth down"},
		"a counter":                        {"CPU load high [#3] (2 of 5)", "cpu load high of"},
		"a uuid":                           {"job 550e8400-e29b-41d4-a716-446655440000 failed", "job failed"},
		"a long hexadecimal id":            {"commit 3f2a9c81 broke it, at 0x7ffdeadbe001", "commit broke it at"},
		"an id with a prefix":              {"i-0abc123def4567890 unreachable", "i unreachable"},
		"a word of hexadecimal letters":    {"facade deadbeef down", "facade deadbeef down"},
		"a short name that could be hex":   {"db07 down", "db down"},
		"signs":                            {"** PROBLEM ** <host>/service", "problem host service"},
		"other alphabets":                  {"Störung in Zürich, Линия 4", "störung in zürich линия"},
		"other digits":                     {"линия ٣ down", "линия down"},
		"nothing but what changes":         {"2026-11-29 12:00 (91%)", ""},
		"nothing":                          {"", ""},
		"broken text":                      {"link \xff\xfe down", "link down"},
		"a title of a book is not read on": {strings.Repeat("a", 2000), strings.Repeat("a", 1024)},
	} {
		if got := dedup.NormalTitle(c.title); got != c.want {
			t.Errorf("%s: %q is %q, want %q", name, c.title, got, c.want)
		}
	}
}

func FuzzNormalTitle(f *testing.F) {
	f.Add("disk 91% at 12:00")
	f.Fuzz(func(t *testing.T, title string) {
		if got := dedup.NormalTitle(title); strings.ContainsFunc(got, unicode.IsDigit) || len(got) > 4<<10 {
			t.Errorf("%q is %q", title, got)
		}
	})
}
