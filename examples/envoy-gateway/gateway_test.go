package gateway_test

import (
	"flag"
	"os"
	"testing"

	"oneticket/examples/exampletest"
)

var update = flag.Bool("update", false, "write gateway.yaml")

func TestTheFileIsWhatIsPrinted(t *testing.T) {
	printed := exampletest.Printed(t, "--for", "envoy-gateway", "-c", "oneticket.hcl", "--namespace", "oneticket",
		"--filter", "oneticket.oneticket.svc.cluster.local:9443")
	if *update {
		if err := os.WriteFile("gateway.yaml", printed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("gateway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(printed) {
		t.Errorf("gateway.yaml is not what is printed, which go test ./examples/envoy-gateway -update writes:\n%s", printed)
	}
}

func TestEnvoyGatewayTakesTheObjects(t *testing.T) {
	exampletest.Kinds(t, "TestEnvoyGatewayTakesTheObjects")
}
