package redisstore_test

import (
	"fmt"
	"strings"
	"testing"

	"oneticket/dedup"
	"oneticket/dedup/redisstore"
)

// What a live key costs Redis is the answer of its ticket system, and little
// beside it: a server of 1 GB holds some hundred thousand open faults.
func TestALiveKeyTakesLessMemoryThanItsAnswer(t *testing.T) {
	server := serve(t)
	store := open(t, redisstore.Options{URL: server.url()})
	answer := tableAnswer(80)
	for name, body := range map[string][]byte{"a short answer": []byte(`{"id":"10042","key":"OPS-42"}`), "a long answer": answer} {
		t.Run(name, func(t *testing.T) {
			ref := refOf(strings.ReplaceAll(name, " ", "-"))
			found := claimed(t, store, ref)
			next := openOf(found)
			next.Response = &dedup.Response{Status: 201, Body: body, Header: []dedup.HeaderField{{Name: "Content-Type", Value: "application/json"}}}
			if _, err := store.Swap(t.Context(), ref, found.Record.Version, next, "nonce"); err != nil {
				t.Fatal(err)
			}
			used := server.memoryOf("*" + strings.ReplaceAll(name, " ", "-") + "*")
			t.Logf("%d bytes of memory for an answer of %d bytes", used, len(body))
			if most := int64(max(len(body), 2<<10)); used == 0 || used > most {
				t.Errorf("%d bytes of memory for an answer of %d bytes", used, len(body))
			}
		})
	}
}

// tableAnswer is an answer in the manner of ServiceNow's Table API: every
// column of the table by name, most of them empty.
func tableAnswer(columns int) []byte {
	var b strings.Builder
	b.WriteString(`{"result":{"sys_id":"9d385017c611228701d22104cc95c371"`)
	for i := range columns {
		fmt.Fprintf(&b, `,"u_column_with_a_long_name_%d":""`, i)
	}
	b.WriteString("}}")
	return []byte(b.String())
}

// memoryOf is what Redis says that the keys of the pattern take, in bytes.
func (s *server) memoryOf(pattern string) (sum int64) {
	s.Helper()
	keys, _ := s.do("KEYS", pattern).([]any)
	for _, key := range keys {
		used, _ := s.do("MEMORY", "USAGE", key, "SAMPLES", "0").(int64)
		sum += used
	}
	return sum
}
