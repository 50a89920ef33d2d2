package config_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oneticket/config"
)

// A pair is a certificate that has signed itself, and its key, as files have them.
type pair struct{ cert, key string }

func newPair(t *testing.T, until time.Time) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signed(t, until, key.Public(), key)
}

func signed(t *testing.T, until time.Time, public, private any) pair {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return pair{text("CERTIFICATE", der), text("PRIVATE KEY", secret)}
}

// shownIn writes a configuration with the pair beside it. An empty text is no file.
func shownIn(t *testing.T, p pair) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"listen.crt": p.cert, "listen.key": p.key, "oneticket.hcl": `backend "pagerduty" {
  url    = "https://events.pagerduty.com"
  listen = "127.0.0.1:8443"
  tls    = { cert = "listen.crt", key = "listen.key" }
}
`} {
		if content == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "oneticket.hcl")
}

// TestACertificateThatCannotBeShownIsNamed where the setting stands.
func TestACertificateThatCannotBeShownIsNamed(t *testing.T) {
	good, other := newPair(t, time.Now().Add(time.Hour)), newPair(t, time.Now().Add(time.Hour))
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pair
		want []string
	}{
		"good":                            {good, nil},
		"no certificate":                  {pair{"", good.key}, []string{"a file of tls cannot be read", "listen.crt: no such file or directory; a relative path is meant from the folder of the configuration."}},
		"neither":                         {pair{"", ""}, []string{"listen.crt: no such file", "listen.key: no such file"}},
		"the other's key":                 {pair{good.cert, other.key}, []string{"cert and key of tls do not belong together", "is not the key of the first certificate in"}},
		"swapped":                         {pair{good.key, good.cert}, []string{"cert of tls is no certificate", "no certificate was found in it"}},
		"damaged":                         {pair{good.cert[:60] + good.cert[70:], good.key}, []string{"cert of tls is no certificate"}},
		"no key in the file":              {pair{good.cert, good.cert}, []string{"key of tls is no key", "no key was found in it"}},
		"encrypted key":                   {pair{good.cert, strings.ReplaceAll(good.key, "PRIVATE", "ENCRYPTED PRIVATE")}, []string{"key of tls is no key", "it is encrypted", "openssl pkey"}},
		"a kind that Envoy does not take": {signed(t, time.Now().Add(time.Hour), public, private), []string{"is of a kind that is not taken", "Ed25519", "RSA and ECDSA"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := shownIn(t, c.pair)
			cfg, diags := config.LoadForRun(path)
			if (cfg == nil) != (len(c.want) > 0) {
				t.Fatalf("%v, %s", cfg, diags)
			}
			for _, want := range c.want {
				if text := diags.String(); !strings.Contains(text, want) || !strings.Contains(text, path+":4:12: ") {
					t.Errorf("%q, at %s:4:12, is not in:\n%s", want, path, text)
				}
			}
			if strings.Contains(diags.String(), "-----END") {
				t.Errorf("the file is repeated:\n%s", diags)
			}
			if c, diags := config.Load(path); c == nil {
				t.Errorf("serve, whose Envoy has the files, does not take it: %s", diags)
			}
		})
	}
}

func TestACertificateThatHasExpiredIsAWarning(t *testing.T) {
	cfg, diags := config.LoadForRun(shownIn(t, newPair(t, time.Now().Add(-time.Minute))))
	if cfg == nil || diags.Errors() != 0 || !strings.Contains(diags.String(), "the certificate of tls has expired") {
		t.Errorf("%v, %s", cfg, diags)
	}
}

// TestANewCertificateIsAnotherConfiguration: a reload would else change nothing.
func TestANewCertificateIsAnotherConfiguration(t *testing.T) {
	first, second := newPair(t, time.Now().Add(time.Hour)), newPair(t, time.Now().Add(time.Hour))
	path := shownIn(t, first)
	load := func() *config.Config {
		cfg, diags := config.LoadForRun(path)
		if cfg == nil {
			t.Fatal(diags)
		}
		return cfg
	}
	before, again := load(), load()
	for name, content := range map[string]string{"listen.crt": second.cert, "listen.key": second.key} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	after := load()
	if before.Hash != again.Hash || before.Hash == after.Hash || before.Backends[0].TLS.Version == after.Backends[0].TLS.Version {
		t.Errorf("hashes %s, %s, %s; versions %s, %s", before.Hash, again.Hash, after.Hash, before.Backends[0].TLS.Version, after.Backends[0].TLS.Version)
	}
	if len(after.Files) != 3 {
		t.Errorf("watched are %q", after.Files)
	}
}
