package dedup_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
)

func ExampleClientKey() {
	bare, _ := dedup.ClientKey("5b1c8a52-6f0e-4f3a-9a51-000000000001", "api")
	quoted, _ := dedup.ClientKey(`"5b1c8a52-6f0e-4f3a-9a51-000000000001"`, "api")
	_, ok := dedup.ClientKey("", "api")
	fmt.Println(bare)
	fmt.Println(bare == quoted, ok)
	// Output:
	// api:5b1c8a52-6f0e-4f3a-9a51-000000000001
	// true false
}

func TestClientKeyIsTheClientsOwnWhereItCanBe(t *testing.T) {
	value60 := strings.Repeat("a", 60)
	for _, c := range []struct {
		name, value, namespace, want string
	}{
		{"bare", "order-7", "api", "api:order-7"},
		{"quoted", `"order-7"`, "api", "api:order-7"},
		{"outer blanks, also in quotes", ` " order-7 " `, "api", "api:order-7"},
		{"all letters that it may have", "aZ09._:-", "api", "api:aZ09._:-"},
		{"64 bytes", value60, "api", "api:" + value60},
		{"65 bytes", value60 + "a", "api", string(dedup.KeyOf("api:" + value60 + "a"))},
		{"another letter", "order/7", "api", string(dedup.KeyOf("api:order/7"))},
		{"escapes in quotes", `"a\"b\\c"`, "api", string(dedup.KeyOf(`api:a"b\c`))},
		{"broken quotes stay", `"a"b"`, "api", string(dedup.KeyOf(`api:"a"b"`))},
		{"broken escape stays", `"a\b"`, "api", string(dedup.KeyOf(`api:"a\b"`))},
		{"escape of the last quote stays", `"a\"`, "api", string(dedup.KeyOf(`api:"a\"`))},
		{"beyond ASCII", "u\u0308", "api", string(dedup.KeyOf("api:ü"))},
		{"no namespace", "order-7", "", ":order-7"},
		{"a key of ours cannot be claimed", strings.Repeat("0", 32), "idem", string(dedup.KeyOf("idem:" + strings.Repeat("0", 32)))},
		{"colon in the namespace", "c", "a:b", string(dedup.KeyOf("a%3Ab:c"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := dedup.ClientKey(c.value, c.namespace); string(got) != c.want || !ok {
				t.Errorf("got %s, %v; want %s", got, ok, c.want)
			}
		})
	}
}

func TestClientKeyIsMissing(t *testing.T) {
	for _, value := range []string{"", " ", `""`, `" "`, "\xff", "${KEY}", `"{{ uuid }}"`} {
		if got, ok := dedup.ClientKey(value, "api"); ok || got != "" {
			t.Errorf("%q: got %s, %v", value, got, ok)
		}
	}
}

func TestWebhookKeyIsMissingWithoutAnID(t *testing.T) {
	for _, id := range []string{"", " ", "\xff", "{EVENT.ID}"} {
		if _, ok := dedup.WebhookKey("push", id); ok {
			t.Errorf("%q has a key", id)
		}
	}
}

func TestKeysOfDifferentThingsDiffer(t *testing.T) {
	webhook := func(kind, id string) dedup.Key {
		key, _ := dedup.WebhookKey(kind, id)
		return key
	}
	job := func(kind, data string) dedup.Key { return dedup.JobKey(kind, []byte(data)) }
	for _, c := range []struct {
		name string
		a, b dedup.Key
	}{
		{"colon between webhook type and id", webhook("a:b", "c"), webhook("a", "b:c")},
		{"colon between job type and data", job("a:b", "c"), job("a", "b:c")},
		{"percent sign in the type", job("a:b", "c"), job("a%3Ab", "c")},
		{"job and webhook", job("webhook:a", "1"), webhook("a", "1")},
		{"versions are no numbers", job("deploy", "1.10"), job("deploy", "1.1")},
		{"numbers in JSON are exact", job("a", "[9007199254740993]"), job("a", "[9007199254740992]")},
		{"repeated members", job("a", `{"x":1,"x":2}`), job("a", `{"x":1,"x":3}`)},
		{"repeated members, other order", job("a", `{"x":1,"x":2}`), job("a", `{"x":2,"x":1}`)},
		{"too many values to be read as JSON", job("a", "[0"+strings.Repeat(",0", 1<<18)+"]"), job("a", "[0"+strings.Repeat(",0", 1<<18+1)+"]")},
		{"NaN and Infinity", job("a", `[NaN]`), job("a", `[Infinity]`)},
		{"halves of surrogate pairs", job("a", `["\ud800"]`), job("a", `["\ud801"]`)},
		{"bytes that are not UTF-8", job("a", "[\"\xfc\"]"), job("a", "[\"\xf6\"]")},
		{"names that are not UTF-8", job("a", "{\"\xfc\":1}"), job("a", "{\"\xf6\":1}")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.a == c.b {
				t.Errorf("both are %s", c.a)
			}
		})
	}
}

var createRequest = dedup.RequestParts{Method: "POST", Path: "/api/now/table/incident", Body: []byte(`{"alerts":[
	{"startsAt":"12:00","labels":["b","a"],"v":1.0},{"startsAt":"12:01","labels":["c"],"v":2}],"meta.id":7,"host":"db-07"}`)}

func TestRequestKeyHashesExactly(t *testing.T) {
	at := time.Unix(3599, 0)
	for _, c := range []struct {
		name    string
		options dedup.RequestKeyOptions
		want    string
	}{
		{"as it is", dedup.RequestKeyOptions{},
			`{"alerts":[{"labels":["b","a"],"startsAt":"12:00","v":1},{"labels":["c"],"startsAt":"12:01","v":2}],"host":"db-07","meta.id":7}`},
		{"a member of every item is ignored", dedup.RequestKeyOptions{Ignore: []string{"alerts.startsAt", "host", "no.where"}},
			`{"alerts":[{"labels":["b","a"],"v":1},{"labels":["c"],"v":2}],"meta.id":7}`},
		{"a name with a dot is ignored", dedup.RequestKeyOptions{Ignore: []string{"meta.id", "alerts"}}, `{"host":"db-07"}`},
		{"a path is no prefix of a name", dedup.RequestKeyOptions{Ignore: []string{"hos", "host.x", "alert", "meta", "", "."}},
			`{"alerts":[{"labels":["b","a"],"startsAt":"12:00","v":1},{"labels":["c"],"startsAt":"12:01","v":2}],"host":"db-07","meta.id":7}`},
		{"lists that are unordered", dedup.RequestKeyOptions{Ignore: []string{"alerts.v", "host", "meta.id"}, Unordered: []string{"alerts.labels"}},
			`{"alerts":[{"labels":["a","b"],"startsAt":"12:00"},{"labels":["c"],"startsAt":"12:01"}]}`},
		{"bucket", dedup.RequestKeyOptions{Ignore: []string{"alerts"}, Bucket: 5, Now: at}, `{"host":"db-07","meta.id":7}:11`},
		{"bucket before 1970", dedup.RequestKeyOptions{Ignore: []string{"alerts"}, Bucket: 5, Now: time.Unix(-1, 0)}, `{"host":"db-07","meta.id":7}:-1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := dedup.KeyOf("POST:/api/now/table/incident:" + c.want)
			if got := dedup.RequestKey(createRequest, c.options); got != want {
				t.Errorf("got %s; want %s, that of %s", got, want, c.want)
			}
		})
	}
}

func TestRequestKeyOfUnorderedLists(t *testing.T) {
	key := func(body string, unordered ...string) dedup.Key {
		return dedup.RequestKey(dedup.RequestParts{Method: "POST", Path: "/", Body: []byte(body)}, dedup.RequestKeyOptions{Unordered: unordered})
	}
	if a, b := key(`{"a":[{"y":1,"x":2},3,"3"]}`, "a"), key(`{"a":["3",3.0,{"x":2,"y":1}]}`, "a"); a != b {
		t.Error("the order of an unordered list makes a difference")
	}
	if key(`[1,2]`, "") != key(`[2,1]`, "") {
		t.Error("the body itself cannot be unordered")
	}
	if key(`[[1,2]]`, "") == key(`[[2,1]]`, "") {
		t.Error("a list in an unordered list has no order")
	}
	if key(`[]`, "") != key(`[]`) {
		t.Error("an empty list has another key when it is unordered")
	}
	if key(`{"a":[1,1]}`, "a") == key(`{"a":[1]}`, "a") {
		t.Error("how often an item stands makes no difference")
	}
	if key(`{"a":[1,2]}`, "b") == key(`{"a":[2,1]}`, "b") {
		t.Error("an ordered list is taken as unordered")
	}
}

func TestRequestKeyOfOtherBodies(t *testing.T) {
	key := func(path, body string) dedup.Key {
		return dedup.RequestKey(dedup.RequestParts{Method: "POST", Path: path, Body: []byte(body)}, dedup.RequestKeyOptions{})
	}
	same := func(name string, a, b dedup.Key) {
		if a != b {
			t.Errorf("%s: %s and %s", name, a, b)
		}
	}
	same("form", key("/t", "host=a&check=b\r\n"), dedup.KeyOf("POST:/t:host=a&check=b"))
	same("cut off", key("/t", `{"a":1`), dedup.KeyOf(`POST:/t:{"a":1`))
	same("scalar", key("/t", ` "a" `), dedup.KeyOf(`POST:/t:"a"`))
	same("none", key("/t", ""), dedup.KeyOf("POST:/t:"))
	same("byte order mark", key("/t", "\xEF\xBB\xBF{\"a\": 1}"), dedup.KeyOf(`POST:/t:{"a":1}`))
	same("path", key("/v1/a%:create", "x"), dedup.KeyOf("POST:/v1/a%25%3Acreate:x"))
	if key("/t", "a:b") == key("/t:a", "b") {
		t.Error("path and body run into each other")
	}
}
