package extproc_test

import (
	"bytes"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"oneticket/dedup"
	"oneticket/extproc"
)

// attributed is the wire form of a message whose attribute is exactly these
// bytes, as the proxy writes what a client has sent.
func attributed(t *testing.T, value string) []byte {
	t.Helper()
	placeholder := bytes.Repeat([]byte{'#'}, len(value))
	m := requestHeaders("x-request-id", "bytes are allowed here")
	m.Attributes = map[string]*structpb.Struct{"envoy.filters.http.ext_proc": {Fields: map[string]*structpb.Value{
		"request.id":       structpb.NewStringValue(string(placeholder)),
		"xds.cluster_name": structpb.NewStringValue("snow"),
	}}}
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Replace(raw, placeholder, []byte(value), 1)
}

// TestARequestIDThatIsNoTextIsReadAllTheSame: a message that cannot be read is
// an exchange that is not guarded.
func TestARequestIDThatIsNoTextIsReadAllTheSame(t *testing.T) {
	for name, c := range map[string]struct{ sent, read string }{
		"text":              {"abc-\u00e9", "abc-\u00e9"},
		"Latin-1":           {"caf\xe9", "caf?"},
		"no text at all":    {"\xff\xfe\x80", "???"},
		"cut in the middle": {"a\xc3", "a?"},
		"among text":        {"\u00e9\xffz", "\u00e9?z"},
	} {
		t.Run(name, func(t *testing.T) {
			var m extprocv3.ProcessingRequest
			data := mem.BufferSlice{mem.SliceBuffer(attributed(t, c.sent))}
			if err := extproc.LenientCodec().Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			got := m.GetAttributes()["envoy.filters.http.ext_proc"].GetFields()
			if got["request.id"].GetStringValue() != c.read || got["xds.cluster_name"].GetStringValue() != "snow" {
				t.Errorf("read %v", got)
			}
		})
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	raw := attributed(t, "\xff\xff")
	for _, cut := range []int{1, len(raw) / 2, len(raw) - 1} {
		var m extprocv3.ProcessingRequest
		if err := extproc.LenientCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw[:cut])}, &m); err == nil {
			t.Errorf("%d bytes of %d were read as %v", cut, len(raw), &m)
		}
	}
}

// TestATokenThatNoHeaderCanCarryIsNotTheEndOfTheIncident: the proxy refuses a
// create for one such header, every time that it is sent.
func TestATokenThatNoHeaderCanCarryIsNotTheEndOfTheIncident(t *testing.T) {
	for name, token := range map[string]string{
		"a line break": "a\nb", "a NUL": "a\x00b", "DEL": "a\x7fb", "a header of its own": "a\r\nX-Admin: 1",
		"longer than backends take": string(bytes.Repeat([]byte{'k'}, 90_000)),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig, _ *extproc.Options) {
				r.rule.Fault = func(req *dedup.Request) (dedup.Fault, error) {
					f, err := faultOf(req)
					f.ClientToken = token
					return f, err
				}
			})
			m := r.proxy().create(createBody)
			if got := header(m.GetRequestBody().GetResponse().GetHeaderMutation(), "idempotency-key"); got != "" {
				t.Errorf("the create is sent with the token %.40q", got)
			}
		})
	}
}

// TestAKeyThatNoHeaderCanCarryIsShownWithoutThat: a rule may make any text its
// key, and the proxy turns an answer with such a header into an error.
func TestAKeyThatNoHeaderCanCarryIsShownWithoutThat(t *testing.T) {
	long := string(bytes.Repeat([]byte{'k'}, 70_000))
	for key, shown := range map[string]string{
		"a\x00b\n": "ab", "a\"b": `a\"b`, "\u00e9": "\u00e9", long: long[:256],
	} {
		r := newRig(t, func(r *rig, _ *extproc.Options) {
			r.rule.Fault = func(req *dedup.Request) (dedup.Fault, error) {
				f, err := faultOf(req)
				f.Ref.Key = dedup.Key(key)
				return f, err
			}
		})
		p := r.proxy()
		p.create(createBody)
		head, _ := p.answer("201", created1)
		want := `create; reason=first; key="` + shown + `"`
		if got := header(head.GetResponseHeaders().GetResponse().GetHeaderMutation(), "oneticket-decision"); got != want {
			t.Errorf("the key %.20q is shown as %.80q, want %.80q", key, got, want)
		}
	}
}
