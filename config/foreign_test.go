package config_test

import (
	"io/fs"
	"testing"
	"time"

	"oneticket/config"
)

// TestWhatTheEnvoyBlockSaysIsBelieved: who says how long the proxy waits, and
// not how long it may be asked to, has one that takes no wish for more.
func TestWhatTheEnvoyBlockSaysIsBelieved(t *testing.T) {
	for _, c := range []struct {
		name, block string
		want        config.Envoy
	}{
		{"nothing", "", config.Envoy{MessageTimeout: 8 * time.Second, MaxMessageTimeout: time.Minute}},
		{"an Envoy with its own defaults", `message_timeout = "200ms"`, config.Envoy{MessageTimeout: 200 * time.Millisecond}},
		{"both", "message_timeout = \"200ms\"\nmax_message_timeout = \"10s\"", config.Envoy{MessageTimeout: 200 * time.Millisecond, MaxMessageTimeout: 10 * time.Second}},
		{"none, in so many words", "message_timeout = \"30s\"\nmax_message_timeout = \"0s\"", config.Envoy{MessageTimeout: 30 * time.Second}},
		{"safe retries", `retries = "safe"`, config.Envoy{MessageTimeout: 8 * time.Second, MaxMessageTimeout: time.Minute, SafeRetries: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "backend \"jira\" {\n url = \"https://acme.atlassian.net\"\n}\nenvoy {\n" + c.block + "\n}\n"
			cfg, diags := config.Parse(map[string][]byte{"oneticket.hcl": []byte(text)}, nil)
			if diags.HasErrors() {
				t.Fatal(diags.String())
			}
			if cfg.Envoy != c.want {
				t.Errorf("%+v, want %+v", cfg.Envoy, c.want)
			}
		})
	}
}

func TestUnixSocket(t *testing.T) {
	for _, c := range []struct {
		setting, path string
		mode          fs.FileMode
		group         int
		ok            bool
	}{
		{"unix:/run/f.sock", "/run/f.sock", 0o600, -1, true},
		{"unix:/run/f.sock?mode=0660&group=1337", "/run/f.sock", 0o660, 1337, true},
		{"127.0.0.1:9443", "", 0, 0, false},
		{"", "", 0, 0, false},
	} {
		path, mode, group, ok := config.UnixSocket(c.setting)
		if path != c.path || mode != c.mode || group != c.group || ok != c.ok {
			t.Errorf("%q: %q %o %d %v", c.setting, path, mode, group, ok)
		}
	}
}
