package kinds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	gatewayapi "github.com/envoyproxy/gateway/api/v1alpha1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	istio "istio.io/api/networking/v1alpha3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	strict "sigs.k8s.io/yaml"
)

// kinds make an empty object of each kind.
var kinds = map[string]func() any{
	"gateway.envoyproxy.io/v1alpha1 EnvoyProxy":           func() any { return &gatewayapi.EnvoyProxy{} },
	"gateway.envoyproxy.io/v1alpha1 ClientTrafficPolicy":  func() any { return &gatewayapi.ClientTrafficPolicy{} },
	"gateway.envoyproxy.io/v1alpha1 BackendTrafficPolicy": func() any { return &gatewayapi.BackendTrafficPolicy{} },
	"gateway.envoyproxy.io/v1alpha1 EnvoyExtensionPolicy": func() any { return &gatewayapi.EnvoyExtensionPolicy{} },
	"gateway.envoyproxy.io/v1alpha1 Backend":              func() any { return &gatewayapi.Backend{} },
	"gateway.networking.k8s.io/v1 Gateway":                func() any { return &gateway.Gateway{} },
	"gateway.networking.k8s.io/v1 HTTPRoute":              func() any { return &gateway.HTTPRoute{} },
	"apps/v1 Deployment":                                  func() any { return &appsv1.Deployment{} },
	"v1 Service":                                          func() any { return &corev1.Service{} },
	"networking.k8s.io/v1 NetworkPolicy":                  func() any { return &networkingv1.NetworkPolicy{} },
}

// specs are the kinds of Istio, whose own decoder lets unknown names pass: the
// spec is decoded as the message that it is.
var specs = map[string]func() proto.Message{
	"networking.istio.io/v1 ServiceEntry":      func() proto.Message { return &istio.ServiceEntry{} },
	"networking.istio.io/v1 DestinationRule":   func() proto.Message { return &istio.DestinationRule{} },
	"networking.istio.io/v1 VirtualService":    func() proto.Message { return &istio.VirtualService{} },
	"networking.istio.io/v1alpha3 EnvoyFilter": func() proto.Message { return &istio.EnvoyFilter{} },
}

func TestIstioTakesTheObjects(t *testing.T) {
	check(t, "../istio/istio.yaml", 4)
	check(t, "../istio/pod.yaml", 1)
}

func TestEnvoyGatewayTakesTheObjects(t *testing.T) {
	check(t, "../envoy-gateway/gateway.yaml", 9)
	check(t, "../envoy-gateway/oneticket.yaml", 3)
}

// TestAnUnknownFieldIsFound holds the check itself.
func TestAnUnknownFieldIsFound(t *testing.T) {
	for _, text := range []string{
		"apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {name: a}\nspec: {endpoint: []}\n",
		"apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec: {host: [a]}\n",
	} {
		if err := object([]byte(text)); err == nil {
			t.Errorf("nothing was found in %s", text)
		}
	}
}

func check(t *testing.T, path string, want int) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	found := 0
	for {
		document := make([]byte, len(text))
		n, err := documents.Read(document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := strict.YAMLToJSONStrict(document[:n])
		if err != nil {
			t.Fatal(err)
		}
		if string(raw) == "null" {
			continue // a comment
		}
		found++
		if err := object(document[:n]); err != nil {
			t.Errorf("%s: %v in\n%s", path, err, document[:n])
		}
	}
	if found != want {
		t.Errorf("%s has %d objects, want %d", path, found, want)
	}
}

// object decodes one document strictly.
func object(document []byte) error {
	var head struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              json.RawMessage `json:"spec"`
	}
	if err := strict.Unmarshal(document, &head); err != nil {
		return err
	}
	kind := head.APIVersion + " " + head.Kind
	if spec := specs[kind]; spec != nil {
		if err := strict.UnmarshalStrict(document, &head); err != nil {
			return err
		}
		return protojson.Unmarshal(head.Spec, spec())
	}
	made := kinds[kind]
	if made == nil {
		return errors.New("no kind " + kind)
	}
	return strict.UnmarshalStrict(document, made())
}
