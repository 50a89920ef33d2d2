package body_test

import (
	"testing"
)

const urlencoded = "application/x-www-form-urlencoded"

func TestAFormIsTheObjectOfItsFields(t *testing.T) {
	for name, c := range map[string]struct {
		text, contentType string
		places            map[string]string
	}{
		"plus, escapes and their case": {"check=disk+%2fvar&host=%64b-07&a%62c=1", urlencoded, map[string]string{"check": "disk /var", "host": "db-07", "abc": "1"}},
		"stands twice":                 {"host=db-07&host=db-08&check=ping", urlencoded, map[string]string{"host": missing, "check": "ping"}},
		"stands twice, once escaped":   {"host=db-07&h%6Fst=db-07", urlencoded, map[string]string{"host": missing}},
		"stands thrice":                {"host=db-07&host=&host=db-07", urlencoded, map[string]string{"host": missing}},
		"empty and bare":               {"host=&check&x=1&&", urlencoded, map[string]string{"host": missing, "check": missing, "x": "1"}},
		"no escape after all":          {"a=%zz%4&b=100%", urlencoded, map[string]string{"a": "%zz%4", "b": "100%"}},
		"an equals sign in the value":  {"a=b=c", urlencoded, map[string]string{"a": "b=c"}},
		"brackets in the name":         {"issue%5Bsubject%5D=x&issue[p]=2", urlencoded, map[string]string{"issue[subject]": "x", "issue[p]": "2"}},
		"escapes that are no UTF-8":    {"a=br%FCcke", urlencoded, map[string]string{"a": missing}},
		"escapes in a charset":         {"a=br%FCcke&b=%E9", urlencoded + "; charset=iso-8859-1", map[string]string{"a": "brücke", "b": "é"}},
		"no content type":              {"host=db-07&check=ping", "", map[string]string{"host": "db-07", "check": "ping"}},
		"sent as JSON":                 {"host=db-07&check=ping", "application/json", map[string]string{"host": "db-07"}},
		"JSON in a field":              {"payload=%7B%22source%22%3A%22db-07%22%2C%22n%22%3A1.0%7D&x=1", urlencoded, map[string]string{"payload/source": "db-07", "payload/n": "1", "x": "1", "payload": missing}},
		"JSON in a field, bare":        {`payload={"source": "db-07"}`, "application/json", map[string]string{"payload/source": "db-07"}},
		"input_data": {"input_data=%7B%22request%22%3A%7B%22subject%22%3A%22disk%22%2C%22requester%22%3A%7B%22name%22%3A%22mon%22%7D%7D%7D", urlencoded,
			map[string]string{"input_data/request/subject": "disk", "input_data/request/requester/name": "mon"}},
		"a list of JSON in a field":    {"alerts=[%7B%22a%22:1%7D,%7B%22a%22:2%7D]", urlencoded, map[string]string{"alerts/1/a": "2"}},
		"a text that begins like JSON": {"subject=[DB]+disk+full&note={HOST}", urlencoded, map[string]string{"subject": "[DB] disk full"}},
	} {
		t.Run(name, func(t *testing.T) { checkPlaces(t, decoded(t, c.text, c.contentType), c.places) })
	}
}

// What python-rt sends, and what RT's own program does.
func TestTheLinesOfRTAreMembers(t *testing.T) {
	const sent = "content=Subject%3A+disk+full%0AText%3A+disk%0ACF.%7BCorrelationKey%7D%3A+corr-1%0Aid%3A+ticket%2Fnew%0AQueue%3A+General"
	checkPlaces(t, decoded(t, sent, urlencoded), map[string]string{
		"content/Subject": "disk full", "content/Text": "disk", "content/CF.{CorrelationKey}": "corr-1", "content/CF/CorrelationKey": "corr-1",
		"content/id": "ticket/new", "content/Queue": "General", "content": missing, "content/Owner": missing,
	})
	for name, c := range map[string]struct {
		content string
		places  map[string]string
	}{
		"comments and blank lines": {"# Required: id, Queue\n\nid: ticket/new\nQueue: General\nCc: \nStarts: 2026-11-29 10:07:06\nText:\n\n",
			map[string]string{"id": "ticket/new", "Queue": "General", "Cc": missing, "Starts": "2026-11-29 10:07:06", "Text": missing}},
		"lines that go on":      {"Subject: a\nText: first\n      second\n\n       third: x\nQueue: Q", map[string]string{"Text": "first\nsecond\n\n third: x", "Queue": "Q"}},
		"CRLF":                  {"id: ticket/new\r\nText: a\r\n  b\r\nQueue: Q\r\n", map[string]string{"id": "ticket/new", "Text": "a\nb", "Queue": "Q"}},
		"the old custom fields": {"CF-Key: k\nCustomField-Other One: o", map[string]string{"CF-Key": "k", "CF/Key": "k", "CF/Other One": "o"}},
		"a colon in the name":   {"CF.{a: b}: c", map[string]string{"CF/a: b": "c"}},
		"a field twice":         {"Queue: a\nQueue: b\nid: 1", map[string]string{"Queue": missing, "id": "1"}},
		"both spellings":        {"CF-K: a\nCF.{K}: a", map[string]string{"CF/K": missing, "CF-K": "a"}},
		"the end of the form":   {"Queue: a\n--\n", map[string]string{"Queue": "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			places := map[string]string{}
			for path, want := range c.places {
				places["content/"+path] = want
			}
			checkPlaces(t, decoded(t, multipartOf("xYzZY", "content", c.content), "multipart/form-data; boundary=xYzZY"), places)
		})
	}
}

func TestWhatIsNotOfRTStaysText(t *testing.T) {
	for name, text := range map[string]string{
		"prose":        "the disk is full: again\nplease look",
		"a URL":        "http://example.test/",
		"two forms":    "Queue: a\n--\nQueue: b",
		"only remarks": "# nothing",
		"an indent":    "  Queue: a",
	} {
		t.Run(name, func(t *testing.T) {
			b := decoded(t, multipartOf("B", "content", text), "multipart/form-data; boundary=B")
			v, err := b.Value(nil)
			if got, ok := v.Member("content").Text(); err != nil || !ok || got == "" {
				t.Errorf("got %q %v", got, err)
			}
		})
	}
}

func TestTheTokenInAForm(t *testing.T) {
	one := []string{"key"}
	for name, c := range map[string]struct {
		path     []string
		in, want string // want "" = left as it is
	}{
		"absent":               {one, "a=%2f+b&c", "a=%2f+b&c&key=idem%3A1"},
		"behind an ampersand":  {one, "a=1&", "a=1&key=idem%3A1"},
		"behind a line end":    {one, "a=1\n", "a=1\n&key=idem%3A1"},
		"empty":                {one, "key=&a=1", "key=idem%3A1&a=1"},
		"bare":                 {one, "a=1&key&b=2", "a=1&key=idem%3A1&b=2"},
		"blank":                {one, "a=1&k%65y=+%20&b=2", "a=1&k%65y=idem%3A1&b=2"},
		"the client's own":     {one, "key=mine", ""},
		"twice":                {one, "key=&key=", ""},
		"in JSON":              {[]string{"payload", "k"}, "x=%2f&payload=%7b%22a%22%3A%22%2f+%c3%bc%22%7D&y=+", "x=%2f&payload=%7b%22a%22%3A%22%2f+%c3%bc%22%2C%22k%22%3A%22idem%3A1%22%7D&y=+"},
		"in JSON that is bare": {[]string{"payload", "a", "k"}, `payload={"a": {"k":null}}`, `payload={"a": {"k":%22idem%3A1%22}}`},
		"in JSON, his own":     {[]string{"payload", "k"}, `payload={"k":"x"}`, ""},
		"in a field of text":   {[]string{"payload", "k"}, `payload=x`, ""},
		"in no field":          {[]string{"payload", "k"}, `a=x`, ""},
		"in two fields":        {[]string{"p", "k"}, `p={}&p={}`, ""},
		"RT":                   {[]string{"content", "CF", "Key"}, "content=id%3a+ticket/new%0AText:+x%0A++y", "content=CF.%7BKey%7D%3A+idem%3A1%0Aid%3a+ticket/new%0AText:+x%0A++y"},
		"RT, behind a remark":  {[]string{"content", "CF.{Key}"}, "content=%23+x%0Aid:+1", "content=%23+x%0ACF.%7BKey%7D%3A+idem%3A1%0Aid:+1"},
		"RT, a name with dots": {[]string{"content", "CF", "{a", "b}"}, "content=id:+1", "content=CF.%7Ba.b%7D%3A+idem%3A1%0Aid:+1"},
		"RT, empty":            {[]string{"content", "CF", "Key"}, "content=id:+1%0ACF-Key:+%0AQueue:+Q", "content=id:+1%0ACF-Key:+idem%3A1%0AQueue:+Q"},
		"RT, his own":          {[]string{"content", "CF", "key"}, "content=id:+1%0ACF-Key:+k", ""},
		"RT, a plain field":    {[]string{"content", "Subject"}, "content=id:+1%0D%0A", "content=Subject%3A+idem%3A1%0D%0Aid:+1%0D%0A"},
		"RT, no field at all":  {[]string{"content", "a b"}, "content=id:+1", ""},
	} {
		t.Run(name, func(t *testing.T) { checkSet(t, c.in, urlencoded, c.path, c.want) })
	}
}

func checkSet(t *testing.T, in, contentType string, path []string, want string) {
	t.Helper()
	got, ok := decoded(t, in, contentType).SetField(path, "idem:1")
	if ok != (want != "") || string(got) != want {
		t.Errorf("got %v %s\nwant %s", ok, got, want)
	}
}

func checkAdd(t *testing.T, in, contentType string, path []string, want string) {
	t.Helper()
	got, ok := decoded(t, in, contentType).AddItem(path, "idem:1")
	if ok != (want != "") || string(got) != want {
		t.Errorf("got %v %s\nwant %s", ok, got, want)
	}
}

func TestATokenThatACharsetHas(t *testing.T) {
	b := decoded(t, "a=br%FCcke", urlencoded+";charset=latin1")
	got, ok := b.SetField([]string{"key"}, "schlüssel")
	if want := "a=br%FCcke&key=schl%FCssel"; !ok || string(got) != want {
		t.Errorf("got %v %s, want %s", ok, got, want)
	}
	if got, ok := b.SetField([]string{"key"}, "ключ"); ok {
		t.Errorf("latin1 does not have it, got %s", got)
	}
}

func TestALabelInAList(t *testing.T) {
	path := []string{"fields", "labels"}
	for name, c := range map[string]struct{ in, want string }{
		"one more":       {`{"fields":{"labels":["a", "b" ]}}`, `{"fields":{"labels":["a", "b","idem:1" ]}}`},
		"the first":      {`{"fields":{"labels":[ ]}}`, `{"fields":{"labels":["idem:1" ]}}`},
		"no list":        {`{"fields":{"x":1}}`, `{"fields":{"x":1,"labels":["idem:1"]}}`},
		"null":           {`{"fields":{"labels":null}}`, `{"fields":{"labels":["idem:1"]}}`},
		"there already":  {`{"fields":{"labels":["a","idem\u003a1"]}}`, ""},
		"a text":         {`{"fields":{"labels":"a"}}`, ""},
		"there twice":    {`{"fields":{"labels":[],"labels":[]}}`, ""},
		"nothing around": {`{}`, ""},
		"nested":         {`{"fields":{"labels":[["idem:1"],{"a":[1]}]}}`, `{"fields":{"labels":[["idem:1"],{"a":[1]},"idem:1"]}}`},
	} {
		t.Run(name, func(t *testing.T) { checkAdd(t, c.in, "application/json", path, c.want) })
	}
	t.Run("a form", func(t *testing.T) {
		checkAdd(t, "l=a&x=1", urlencoded, []string{"l"}, "l=a&x=1&l=idem%3A1")
		checkAdd(t, "l=a&l=idem:1", urlencoded, []string{"l"}, "")
	})
}

func TestTheTokenInAListOfJSONPatch(t *testing.T) {
	const sent = `[{"op":"add","path":"/fields/System.Title","value":"x"} ]`
	for name, c := range map[string]struct {
		path     []string
		in, want string
	}{
		"one path":       {[]string{"/fields/Custom.Key"}, sent, `[{"op":"add","path":"/fields/System.Title","value":"x"},{"op":"add","path":"/fields/Custom.Key","value":"idem:1"} ]`},
		"cut at the dot": {[]string{"/fields/Custom", "Key"}, sent, `[{"op":"add","path":"/fields/System.Title","value":"x"},{"op":"add","path":"/fields/Custom.Key","value":"idem:1"} ]`},
		"there already":  {[]string{"/fields/System.Title"}, sent, ""},
		"another list":   {[]string{"/fields/Custom.Key"}, `[{"a":1}]`, ""},
		"no operation":   {[]string{"/fields/Custom.Key"}, `[]`, ""},
		"a member":       {[]string{"key"}, sent, ""},
	} {
		t.Run(name, func(t *testing.T) { checkSet(t, c.in, "application/json-patch+json", c.path, c.want) })
	}
}

func TestADocumentOfGraphQLAlone(t *testing.T) {
	checkPlaces(t, decoded(t, "mutation { raise }", "application/graphql"), map[string]string{"query": "mutation { raise }", "variables": missing})
	checkPlaces(t, decoded(t, "{ raise }", "application/graphql"), map[string]string{"query": "{ raise }"})
	checkPlaces(t, decoded(t, `{"query":"q"}`, "application/graphql"), map[string]string{"query": "q"})
	checkSet(t, "mutation { raise }", "application/graphql", []string{"variables"}, "")
}
