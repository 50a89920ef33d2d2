package config

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// A Certificate is that by which the address that stands in for a backend
// speaks TLS. Its zero value is an address that speaks plain HTTP.
type Certificate struct {
	Cert    string // file: the certificate, and those between it and what clients trust
	Key     string // file
	Version string // of what is in both; "" when nobody has read them
	at      hcl.Range
}

// On reports whether there is one.
func (c Certificate) On() bool { return c.Cert != "" || c.Key != "" }

// readCertificate reads the setting tls of a backend, and no file.
func (l *loader) readCertificate(from layers) Certificate {
	if !from.has("tls") {
		return Certificate{}
	}
	const todo = `The address that listen names takes tls = { cert = "FILE", key = "FILE" }: its certificate, in which that address or the name that the automation uses stands, and its key, both as PEM.`
	files := l.pathTable(from, "tls", "cert", "key")
	at := from.at("tls")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != "cert" && name != "key" {
			l.fail(at, fmt.Sprintf("tls of a backend has no %q", name), todo+nearest(name, []string{"cert", "key"}))
		}
	}
	for _, name := range []string{"cert", "key"} {
		if files[name] == "" {
			l.fail(at, "tls has no "+name, todo)
		}
	}
	return Certificate{Cert: files["cert"], Key: files["key"], at: at}
}

// load reads both files, adds them to read, and says what is wrong with them.
func (c *Certificate) load(read map[string][]byte, now time.Time) hcl.Diagnostics {
	var wrong hcl.Diagnostics
	for _, file := range []string{c.Cert, c.Key} {
		content, err := os.ReadFile(file)
		if err != nil {
			wrong = append(wrong, c.unreadable(err))
			continue
		}
		read[file] = content
	}
	if len(wrong) > 0 {
		return wrong
	}
	digest := sha256.New()
	for _, file := range []string{c.Cert, c.Key} {
		content := sha256.Sum256(read[file])
		digest.Write(content[:])
	}
	c.Version = hex.EncodeToString(digest.Sum(nil))[:hashDigits]
	return c.judge(read[c.Cert], read[c.Key], now)
}

// unreadable: the error names the file.
func (c *Certificate) unreadable(err error) *hcl.Diagnostic {
	todo := "this user has to be able to read it"
	if errors.Is(err, fs.ErrNotExist) {
		todo = "a relative path is meant from the folder of the configuration"
	}
	return problem(c.at, "a file of tls cannot be read", sentence(err.Error()+"; "+todo))
}

// judge says why the pair cannot be shown, or soon not.
func (c *Certificate) judge(cert, key []byte, now time.Time) hcl.Diagnostics {
	fail := func(summary, detail string) hcl.Diagnostics { return hcl.Diagnostics{problem(c.at, summary, detail)} }
	leaf, err := firstCertificate(cert)
	if err != nil {
		return fail("cert of tls is no certificate", fmt.Sprintf("%s: %v. It begins with -----BEGIN CERTIFICATE-----; the listener's own stands first.", c.Cert, err))
	}
	if why := wrongKey(key); why != "" {
		return fail("key of tls is no key", fmt.Sprintf("%s: %s. It begins with -----BEGIN PRIVATE KEY----- and has no password: openssl pkey -in OLD -out NEW.", c.Key, why))
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return fail("cert and key of tls do not belong together", fmt.Sprintf("%s is not the key of the first certificate in %s. Name the key by which that was asked for, or put the listener's own certificate first.", c.Key, c.Cert))
	}
	switch k := leaf.PublicKey.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < 2048 {
			return fail("key of tls is too short", fmt.Sprintf("%s has an RSA key of %d bits; Envoy takes 2048 or more.", c.Cert, k.N.BitLen()))
		}
	case *ecdsa.PublicKey:
	default:
		return fail("key of tls is of a kind that is not taken", fmt.Sprintf("%s has a %v key; Envoy takes RSA and ECDSA.", c.Cert, leaf.PublicKeyAlgorithm))
	}
	if now.After(leaf.NotAfter) {
		return hcl.Diagnostics{warning(c.at, "the certificate of tls has expired", fmt.Sprintf("%s was good until %s: clients that check it refuse it, and their creates do not arrive.", c.Cert, leaf.NotAfter.UTC().Format(time.DateOnly)))}
	}
	return nil
}

func firstCertificate(text []byte) (*x509.Certificate, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, errors.New("no certificate was found in it")
}

// wrongKey says why the text is no key that can be used, without a word of it.
func wrongKey(text []byte) string {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case strings.HasPrefix(block.Type, "ENCRYPTED") || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return "it is encrypted"
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return ""
		}
	}
	return "no key was found in it"
}
