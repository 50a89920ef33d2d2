package extproc_test

import (
	"bytes"
	"compress/gzip"
	"log/slog"
	"strings"
	"testing"

	"oneticket/dedup"
	"oneticket/extproc"
)

func TestTheClientsOwnKeyStays(t *testing.T) {
	r := newRig(t, nil)
	m := r.proxy().create(createBody, append([]string{"idempotency-key", "mine", "content-length", "49"}, bearer...)...)
	got := m.GetRequestBody().GetResponse()
	if header(got.GetHeaderMutation(), "idempotency-key") != "" {
		t.Errorf("the header is replaced: %v", got)
	}
	body := got.GetBodyMutation().GetBody()
	if !bytes.Contains(body, []byte(`"correlation_id":"mine"`)) {
		t.Errorf("the body is %s", body)
	}
	if header(got.GetHeaderMutation(), "content-length") != "73" || len(body) != 73 {
		t.Errorf("content-length %s for %d bytes", header(got.GetHeaderMutation(), "content-length"), len(body))
	}
}

func TestAKeyThatDiffersOnEveryTryIsReplaced(t *testing.T) {
	r := newRig(t, func(r *rig, _ *extproc.Options) {
		r.rule.TokenVolatile = true
		r.rule.Fault = func(q *dedup.Request) (dedup.Fault, error) {
			f, err := faultOf(q)
			f.ClientToken = ""
			return f, err
		}
	})
	m := r.proxy().create(createBody, "idempotency-key", "mine")
	if got := header(m.GetRequestBody().GetResponse().GetHeaderMutation(), "idempotency-key"); !strings.HasPrefix(got, "idem:") {
		t.Errorf("the backend gets %q", got)
	}
}

func TestABodyThatASignatureVouchesForIsNotRewritten(t *testing.T) {
	r := newRig(t, nil)
	m := r.proxy().create(createBody, "content-md5", "x")
	got := m.GetRequestBody().GetResponse()
	if got.GetBodyMutation() != nil || header(got.GetHeaderMutation(), "idempotency-key") == "" {
		t.Errorf("got %v", got)
	}
}

func TestAGzippedAnswerIsKeptDecoded(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	p.create(createBody)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(created1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p.answer("201", packed.String(), "content-type", "application/json", "content-encoding", "gzip")
	a := r.proxy().create(createBody).GetImmediateResponse()
	if string(a.GetBody()) != created1 || header(a.GetHeaders(), "content-encoding") != "" {
		t.Errorf("the duplicate gets %v", a)
	}
}

func TestAnAnswerTooLargeToKeepLeavesTheTicket(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	p.create(createBody)
	_, rest := p.answer("201", `{"result":{"sys_id":"0001","journal":"`+strings.Repeat("x", 2<<10)+`"}}`, "x-own", "1", "location", "/incident/0001")
	if rest.GetResponseBody() == nil || rest.GetResponseBody().GetResponse().GetBodyMutation() != nil {
		t.Errorf("the first client gets %v", rest)
	}
	a := r.proxy().create(createBody).GetImmediateResponse()
	if a.GetStatus().GetCode() != 201 || string(a.GetBody()) != `{"id":"0001","location":"/incident/0001"}` {
		t.Errorf("the duplicate gets %v", a)
	}
	if header(a.GetHeaders(), "location") != "/incident/0001" || header(a.GetHeaders(), "x-own") != "" {
		t.Errorf("the duplicate gets %v", a.GetHeaders())
	}
}

func TestARefusalIsNotKept(t *testing.T) {
	for name, c := range map[string]struct{ status, body string }{
		"wrong password":       {"401", `{"error":"no"}`},
		"a redirect":           {"307", ``},
		"a failure inside 201": {"201", `{"error":"mandatory field missing"}`},
		"too many":             {"429", `slow down`},
		"nonsense in the body": {"400", "\xff\xfe\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := r.proxy()
			p.create(createBody)
			p.answer(c.status, c.body)
			if m := r.proxy().create(createBody); metadata(m, "decision") != "create" {
				t.Errorf("the next try gets %v", m)
			}
			if r.count.of("outcome", "faults", "refused") != 1 {
				t.Errorf("counted %v", r.count.n)
			}
		})
	}
}

func TestNothingOfACredentialOrABodyIsLogged(t *testing.T) {
	r := newRig(t, nil)
	p := r.proxy()
	p.create(createBody)
	p.answer("500", `{"error":"boom"}`)
	r.proxy().create(`{"cmdb_ci":"db-07"`)
	text := r.log.text(slog.LevelDebug)
	for _, secret := range []string{"Ym90OnMzY3JldA", "db-07", "boom", "x=1"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is logged:\n%s", secret, text)
		}
	}
}
