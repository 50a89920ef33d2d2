package recordjson_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

func TestEveryFieldOfARecordSurvives(t *testing.T) {
	var r dedup.Record
	fill(reflect.ValueOf(&r).Elem(), new(int64))
	r.V, r.Prior.V, r.Prior.Prior = dedup.Format, dedup.Format, nil
	survives(t, r)
}

func TestRecordsSurvive(t *testing.T) {
	stub := dedup.Record{V: dedup.Format, State: dedup.None}
	for name, r := range map[string]dedup.Record{
		"a stub":        stub,
		"a prior stub":  {V: dedup.Format, State: dedup.Claimed, Prior: &stub},
		"empty slices":  {V: 1, Identity: []byte{}, Attempts: []dedup.Attempt{}, Principals: []string{}, Credentials: []dedup.Accepted{}, UpdatedAt: []time.Time{}, Witness: []uint32{}, Trail: []dedup.Trace{}},
		"no body":       {V: 1, Response: &dedup.Response{Status: 201}},
		"empty body":    {V: 1, Response: &dedup.Response{Status: 201, Header: []dedup.HeaderField{}, Body: []byte{}}},
		"latin-1 text":  {V: 1, Token: "caf\xe9", Response: &dedup.Response{Header: []dedup.HeaderField{{Name: "x", Value: "\xff\xfe"}}}},
		"a leading NUL": {V: 1, Token: "\x00AAAA", Class: "\x00"},
		"large numbers": {V: 1, Version: math.MaxInt64, Witness: []uint32{math.MaxUint32}},
		"prior's body":  {V: 1, Prior: &dedup.Record{V: 1, Response: &dedup.Response{Body: []byte{0, 1, 255}}}},
	} {
		t.Run(name, func(t *testing.T) { survives(t, r) })
	}
}

func TestOfANewerFormatOnlyItsVersionsAreRead(t *testing.T) {
	p := recordjson.Packed{Head: recordjson.Head{V: dedup.Format + 1, Version: 7}, Rest: "not ours", Prior: "}"}
	got, err := p.Unpack()
	if want := (dedup.Record{V: dedup.Format + 1, Version: 7}); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestADamagedRecordIsAnError(t *testing.T) {
	good, err := recordjson.Pack(dedup.Record{State: dedup.Open})
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*recordjson.Packed){
		"rest":  func(p *recordjson.Packed) { p.Rest = `{"state":` },
		"trail": func(p *recordjson.Packed) { p.Trail = `{}` },
		"prior": func(p *recordjson.Packed) { p.Prior = `{"head":[1]` },
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			damage(&p)
			if _, err := p.Unpack(); err == nil {
				t.Fatal("no error")
			}
		})
	}
}

func TestTheUnknownFingerprintEqualsNone(t *testing.T) {
	seen := map[string]dedup.Fingerprint{}
	for _, f := range []dedup.Fingerprint{{Severity: "2"}, {Severity: "2", Cleared: true}, {Cleared: true}, {Severity: "-"}} {
		text := recordjson.FingerprintText(f)
		if other, ok := seen[text]; ok || text == "" {
			t.Errorf("%+v and %+v are both %q", f, other, text)
		}
		seen[text] = f
	}
	if text := recordjson.FingerprintText(dedup.Unknown); text != "" {
		t.Errorf("unknown is %q", text)
	}
}

func survives(t *testing.T, r dedup.Record) {
	t.Helper()
	p, err := recordjson.Pack(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Unpack()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, r) {
		t.Errorf("got  %+v\nwant %+v", got, r)
	}
}

// fill gives every field, at any depth, a value of its own, so that a field
// that is added to the record and forgotten here is found.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMicro(1_700_000_000_000_000 + *n).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Prior" && *n > 200 {
				continue
			}
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*dedup.Record]() {
			*n += 200
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)) + string(rune('a'+*n/26%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(uint64(*n % 256))
	default:
		v.SetInt(*n)
	}
}

func BenchmarkUnpack(b *testing.B) {
	r := dedup.Record{
		V: 1, State: dedup.Open, Token: "idem:0123456789abcdef0123456789abcdef", Identity: []byte("element_id=core-rtr-7|fault_class=RING_DOWN"),
		Ticket:   dedup.Ticket{ID: "INC0012345"},
		Response: &dedup.Response{Status: 201, Header: []dedup.HeaderField{{Name: "content-type", Value: "application/json"}, {Name: "location", Value: "https://x/1"}}, Body: make([]byte, 900)},
		Trail:    []dedup.Trace{{At: time.Now(), Kind: dedup.Create, Reason: dedup.First, Config: "a1b2c3d4", By: "pod-1"}},
	}
	p, err := recordjson.Pack(r)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.Unpack(); err != nil {
			b.Fatal(err)
		}
	}
}
