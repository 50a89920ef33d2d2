package dedup_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"oneticket/dedup"
)

// benchBody is a create of about the size, the identity early in it and a long
// description with escapes.
func benchBody(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"cmdb_ci":"core-rtr-7","category":"RING_DOWN","fields":{"project":{"key":"OPS"},"labels":["a","b"]},"u_rc":991.0,`)
	for i := range 20 {
		fmt.Fprintf(&b, `"u_custom_%d":{"id":%d,"value":"some value"},`, i, 3600+i)
	}
	b.WriteString(`"description":"`)
	for b.Len() < size-2 {
		b.WriteString(`2024-05-01T12:00:00Z interface xe-0/0/1 is down; neighbour lost\n`)
	}
	b.WriteString(`"}`)
	return []byte(b.String())
}

func benchWant() *dedup.Want {
	return dedup.NewWant(pathTo("cmdb_ci"), pathTo("category"), pathTo("fields", "project", "key"), pathTo("u_rc"))
}

func BenchmarkText(b *testing.B) {
	for name, v := range map[string]dedup.Value{
		"ascii":      {Kind: dedup.StringValue, Literal: "core-rtr-7.example.net"},
		"composed":   {Kind: dedup.StringValue, Literal: "web-m\u00fcnchen-1"},
		"decomposed": {Kind: dedup.StringValue, Literal: "web-mu\u0308nchen-1"},
		"integer":    numberValue("3601"),
		"decimal":    numberValue("-12.50e1"),
		"far":        numberValue("1e1000000"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Text()
			}
		})
	}
}

func BenchmarkReadJSON(b *testing.B) {
	wanted := benchWant()
	for name, size := range map[string]int{"2kB": 2 << 10, "1MiB": 1 << 20} {
		body := benchBody(size)
		run := func(how string, read func() error) {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("wanted", func() error { _, err := dedup.ReadJSON(body, wanted); return err })
		run("everything", func() error { _, err := dedup.ReadJSON(body, nil); return err })
		run("encoding-json-struct", func() error {
			var v struct {
				CI       string `json:"cmdb_ci"`
				Category string
				Fields   struct{ Project struct{ Key string } }
				RC       json.Number `json:"u_rc"`
			}
			return json.Unmarshal(body, &v)
		})
		run("encoding-json-any", func() error { var v any; return json.Unmarshal(body, &v) })
	}
}

func BenchmarkKeyOfIdentity(b *testing.B) {
	for name, cause := range map[string]string{"plain": "rc-991", "escaped": "rc|991"} {
		fields := []dedup.Field{{"element_id", "core-rtr-7"}, {"fault_class", "RING_DOWN"}, {"root_cause_id", cause}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dedup.KeyOf(dedup.Canonical(fields))
			}
		})
	}
}

func BenchmarkRequestKey(b *testing.B) {
	parts := dedup.RequestParts{Method: "POST", Path: "/api/now/table/incident", Body: benchBody(2 << 10)}
	options := dedup.RequestKeyOptions{Ignore: []string{"u_rc", "fields.labels"}}
	b.ReportAllocs()
	for b.Loop() {
		dedup.RequestKey(parts, options)
	}
}
