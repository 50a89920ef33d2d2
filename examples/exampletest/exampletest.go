// Package exampletest holds what the tests of examples share.
package exampletest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"testing"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Tree is a mapping of YAML.
type Tree = map[string]any

// Printed is what "oneticket envoy" prints with the arguments.
func Printed(t *testing.T, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", append([]string{"run", "oneticket/cmd/oneticket", "envoy"}, args...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("oneticket envoy %v: %v: %s", args, err, &stderr)
	}
	return out
}

// Documents reads the mappings of a file of YAML, without those that hold
// nothing but a comment.
func Documents(t *testing.T, text []byte) (all []Tree) {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var one Tree
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if one != nil {
			all = append(all, one)
		}
	}
}

// Message decodes a tree strictly as a message of Envoy's, and checks it as
// Envoy does when it is whole.
func Message[M proto.Message](t *testing.T, tree any, m M) M {
	t.Helper()
	raw, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(raw, m); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return m
}

// Kinds runs the tests of examples/kinds with the name: they decode the objects
// of Kubernetes as the Go types of their kinds.
func Kinds(t *testing.T, name string) {
	t.Helper()
	cmd := exec.Command("go", "-C", "../kinds", "test", "-count=1", "-run", "^"+name+"$", ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
