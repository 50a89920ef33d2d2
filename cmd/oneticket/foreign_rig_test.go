package main_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// A way is how an Envoy of somebody else's reaches the filter.
type way struct {
	name     string
	settings string   // of the configuration
	flags    []string // of oneticket envoy
}

// ways makes both: a UNIX socket with a mode and a group, and mutual TLS.
func ways(t *testing.T) []way {
	dir := t.TempDir()
	makeCertificates(t, dir)
	address := freeAddress(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	return []way{
		{
			name:     "unix socket",
			settings: fmt.Sprintf("socket = \"unix:%s?mode=0660&group=%d\"\n", file("filter.sock"), os.Getgid()),
		},
		{
			name: "mutual TLS",
			settings: fmt.Sprintf("socket = %q\ntls = {\n cert = %q\n key = %q\n ca = %q\n}\n",
				address, file("filter.crt"), file("filter.key"), file("ca.crt")),
			flags: []string{"--cert", file("envoy.crt"), "--key", file("envoy.key"), "--ca", file("ca.crt")},
		},
	}
}

// makeCertificates writes those of an authority, of the filter, of the Envoy,
// and of a stranger whom the authority has not signed.
func makeCertificates(t *testing.T, dir string) {
	t.Helper()
	authority := newCertificate(t, "authority", nil)
	stranger := newCertificate(t, "another authority", nil)
	authority.write(t, dir, "ca")
	newCertificate(t, "filter", authority).write(t, dir, "filter")
	newCertificate(t, "envoy", authority).write(t, dir, "envoy")
	newCertificate(t, "stranger", stranger).write(t, dir, "stranger")
}

type certificate struct {
	x509 *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newCertificate(t *testing.T, name string, signer *certificate) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: signer == nil,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if signer == nil {
		signer = &certificate{template, key}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, signer.x509, &key.PublicKey, signer.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &certificate{made, key}
}

func (c *certificate) write(t *testing.T, dir, name string) {
	t.Helper()
	key, err := x509.MarshalECPrivateKey(c.key)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, block := range map[string]*pem.Block{
		".crt": {Type: "CERTIFICATE", Bytes: c.x509.Raw}, ".key": {Type: "EC PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name+suffix), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// newServed is a sidecar that runs without an Envoy of its own.
func newServed(t *testing.T, d *desk, w way) *sidecar {
	s := newSidecar(t, d, "", w.settings+"envoy {\n retries = \"safe\"\n}\n")
	s.serves = true
	return s
}

// print is what `oneticket envoy` prints for the sidecar.
func (s *sidecar) print(target string, w way) []byte {
	s.t.Helper()
	binary, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(binary, append([]string{"envoy", "-c", s.config, "--for", target}, w.flags...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("oneticket envoy --for %s: %v: %s", target, err, &stderr)
	}
	return out
}

// A tree is a configuration of Envoy's as YAML has it.
type tree = map[string]any

func parseTree(t *testing.T, text []byte) tree {
	t.Helper()
	var out tree
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// embed puts the pieces where their comments say, into as little as a
// configuration can be.
func embed(pieces tree, listen string) tree {
	for _, h := range pieces["virtual_hosts"].([]any) {
		h.(tree)["domains"] = []any{"*"} // our own
	}
	router := tree{"name": "envoy.filters.http.router", "typed_config": tree{
		"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
	}}
	manager := tree{
		"@type":        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix":  "own",
		"route_config": tree{"virtual_hosts": pieces["virtual_hosts"]},
		"http_filters": append(pieces["http_filters"].([]any), router),
		"access_log":   pieces["access_log"],
	}
	maps.Copy(manager, pieces["http_connection_manager"].(tree))
	host, port, _ := net.SplitHostPort(listen)
	number, _ := strconv.Atoi(port)
	listener := tree{
		"name":    "own",
		"address": tree{"socket_address": tree{"address": host, "port_value": number}},
		"filter_chains": []any{tree{"filters": []any{tree{
			"name": "envoy.filters.network.http_connection_manager", "typed_config": manager,
		}}}},
	}
	maps.Copy(listener, pieces["listener"].(tree))
	return tree{"static_resources": tree{"listeners": []any{listener}, "clusters": pieces["clusters"]}}
}

// runEnvoy runs a foreign Envoy with the configuration. Decoding is strict: a
// name that Envoy does not know is a mistake.
func runEnvoy(t *testing.T, configuration tree) *envoytest.Running {
	t.Helper()
	raw, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := &bootstrapv3.Bootstrap{}
	if err := protojson.Unmarshal(raw, bootstrap); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	spec := envoytest.Fill(t, envoy.Spec{})
	if bootstrap.Admin == nil {
		bootstrap.Admin = adminAt(t, spec.Admin)
	}
	running := envoytest.Launch(t, spec, bootstrap)
	running.Await(t)
	return running
}

func adminAt(t *testing.T, path string) *bootstrapv3.Admin {
	t.Helper()
	raw, err := json.Marshal(tree{"address": tree{"pipe": tree{"path": path, "mode": 0o600}}})
	if err != nil {
		t.Fatal(err)
	}
	admin := &bootstrapv3.Admin{}
	if err := protojson.Unmarshal(raw, admin); err != nil {
		t.Fatal(err)
	}
	return admin
}
