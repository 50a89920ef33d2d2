package envoy_test

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	ext_procfilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	caresv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/network/dns_resolver/cares/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"oneticket/extproc/envoy"
	"oneticket/extproc/envoy/envoytest"
)

// facts is one Envoy with a listener for each thing that differs, a probe in
// the filter's place and a scripted backend.
type facts struct {
	*envoytest.Running
	probe   *probe
	backend *backend
}

// TestFacts holds Envoy to what the filter relies on. A new pin of Envoy is a
// green run of it.
func TestFacts(t *testing.T) {
	f := startFacts(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *facts)
	}{
		{"messages", factsOfMessages},
		{"attributes", factsOfAttributes},
		{"mode override", factsOfOverride},
		{"immediate answer", factsOfImmediate},
		{"mutations", factsOfMutations},
		{"replaced bodies", factsOfBodies},
		{"outcomes", factsOfOutcomes},
		{"access log", factsOfAccessLog},
		{"time", factsOfTime},
		{"failures", factsOfFailures},
		{"healing", factsOfHealing},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, f) })
	}
}

// startFacts makes the listeners out of what Bootstrap makes, with the limits
// of time and size that a test can reach.
func startFacts(t *testing.T) *facts {
	t.Helper()
	f := &facts{backend: startBackend(t, nil)}
	url := f.backend.url("http")
	spec := envoytest.Fill(t, envoy.Spec{
		AccessLogService: true,
		Roots:            newAuthority(t).file,
		Backends: []envoy.Backend{
			{Name: "open", URL: url, Methods: []string{"POST", "PUT", "HEAD"}},
			{Name: "closed", URL: url, FailureClosed: true},
			{Name: "small", URL: url},
			{Name: "hasty", URL: url, FailureClosed: true},
			{Name: "hasty open", URL: url},
			{Name: "brief", URL: url, Timeout: time.Second},
			{Name: "refused", URL: "http://" + deadPort(t), Retries: -1},
			{Name: "refused twice", URL: "http://" + deadPort(t), Retries: 1},
			{Name: "not TLS", URL: "https://" + plain(t), Retries: -1},
			{Name: "silent", URL: "https://" + silent(t), Retries: -1},
			{Name: "empty", URL: url, Retries: -1},
			{Name: "nameless", URL: "http://ticket.invalid", Retries: -1},
			{Name: "full", URL: url, Retries: -1},
		},
	})
	bootstrap, err := envoy.Bootstrap(spec)
	if err != nil {
		t.Fatal(err)
	}
	changeFacts(t, bootstrap)
	f.probe = startProbe(t, spec.Socket)
	f.Running = envoytest.Launch(t, spec, bootstrap)
	f.Await(t)
	return f
}

func changeFacts(t *testing.T, b *bootstrapv3.Bootstrap) {
	t.Helper()
	for _, l := range b.StaticResources.Listeners {
		if strings.HasPrefix(l.Name, "hasty") {
			changeFilter(t, l.FilterChains[0].Filters[0].GetTypedConfig(), func(p *ext_procfilterv3.ExternalProcessor) {
				p.MessageTimeout = durationpb.New(time.Second)
				p.MaxMessageTimeout = durationpb.New(20 * time.Second)
			})
		}
		if l.Name == "small" {
			l.PerConnectionBufferLimitBytes = wrapperspb.UInt32(64 << 10)
		}
	}
	cluster := func(name string) *clusterv3.Cluster {
		i := slices.IndexFunc(b.StaticResources.Clusters, func(c *clusterv3.Cluster) bool { return c.Name == name })
		return b.StaticResources.Clusters[i]
	}
	cluster("silent").ConnectTimeout = durationpb.New(200 * time.Millisecond)
	cluster("empty").LoadAssignment.Endpoints = nil
	cluster("full").CircuitBreakers.Thresholds[0].MaxPendingRequests = wrapperspb.UInt32(0)
	cluster("nameless").TypedDnsResolverConfig = knowsNothing(t)
}

// changeFilter changes the filter inside a connection manager.
func changeFilter(t *testing.T, manager *anypb.Any, change func(*ext_procfilterv3.ExternalProcessor)) {
	t.Helper()
	var hcm hcmv3.HttpConnectionManager
	var filter ext_procfilterv3.ExternalProcessor
	unpack(t, manager, &hcm)
	unpack(t, hcm.HttpFilters[0].GetTypedConfig(), &filter)
	change(&filter)
	pack(t, hcm.HttpFilters[0].GetTypedConfig(), &filter)
	pack(t, manager, &hcm)
}

func unpack(t *testing.T, a *anypb.Any, m proto.Message) {
	t.Helper()
	if err := a.UnmarshalTo(m); err != nil {
		t.Fatal(err)
	}
}

func pack(t *testing.T, a *anypb.Any, m proto.Message) {
	t.Helper()
	if err := a.MarshalFrom(m); err != nil {
		t.Fatal(err)
	}
}

// silent takes connections and says nothing on them.
func silent(t *testing.T) string {
	t.Helper()
	return listening(t, hangs)
}

// plain answers the first bytes of a handshake as a server without TLS does.
func plain(t *testing.T) string {
	t.Helper()
	return listening(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
}

// listening serves connections until the test ends.
func listening(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

// knowsNothing is a name server of our own that knows no name, so that the
// test asks nobody else.
func knowsNothing(t *testing.T) *corev3.TypedExtensionConfig {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := l.ReadFrom(b)
			if err != nil {
				return
			}
			if n > 3 {
				b[2], b[3] = 0x81, 0x83 // an answer: no such name
				_, _ = l.WriteTo(b[:n], from)
			}
		}
	}()
	a, err := anypb.New(&caresv3.CaresDnsResolverConfig{Resolvers: []*corev3.Address{{
		Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address:       "127.0.0.1",
			PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(l.LocalAddr().(*net.UDPAddr).Port)},
		}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return &corev3.TypedExtensionConfig{Name: "envoy.network.dns_resolver.cares", TypedConfig: a}
}

// all is the sequence of an exchange with two bodies.
const all = "request headers, request body end, response headers, response body end"
