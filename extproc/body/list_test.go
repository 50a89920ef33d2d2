package body_test

import (
	"testing"

	"oneticket/extproc/body"
)

func TestSomeCreatesOfABulkAreCutOut(t *testing.T) {
	const doc = `{ "a" : 1.0 , "issueUpdates" : [ {"n":1,"x":"],["} , {"n": 2 } ,{"n":3}] , "z":[ ]}`
	for name, c := range map[string]struct {
		text, want string
		path       []string
		keep       []bool
	}{
		"the middle":       {doc, `{ "a" : 1.0 , "issueUpdates" : [{"n": 2 }] , "z":[ ]}`, []string{"issueUpdates"}, []bool{false, true, false}},
		"the ends":         {doc, `{ "a" : 1.0 , "issueUpdates" : [{"n":1,"x":"],["},{"n":3}] , "z":[ ]}`, []string{"issueUpdates"}, []bool{true, false, true}},
		"none":             {doc, `{ "a" : 1.0 , "issueUpdates" : [] , "z":[ ]}`, []string{"issueUpdates"}, []bool{false, false, false}},
		"the whole body":   {` [1,{"a":[2]}] `, ` [{"a":[2]}] `, nil, []bool{false, true}},
		"an empty list":    {doc, `{ "a" : 1.0 , "issueUpdates" : [ {"n":1,"x":"],["} , {"n": 2 } ,{"n":3}] , "z":[]}`, []string{"z"}, nil},
		"another length":   {doc, ``, []string{"issueUpdates"}, []bool{true}},
		"no list":          {doc, ``, []string{"a"}, []bool{true}},
		"no member":        {doc, ``, []string{"b"}, []bool{true}},
		"it stands twice":  {`{"a":[1],"a":[2]}`, ``, []string{"a"}, []bool{true}},
		"no JSON":          {`<a><b>1</b></a>`, ``, []string{"b"}, []bool{true}},
		"JSON cut in half": {`{"a":[1`, ``, []string{"a"}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := body.Decode([]byte(c.text), "application/json", "", body.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, ok := b.KeepItems(c.path, c.keep)
			if string(got) != c.want || ok != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, ok, c.want)
			}
		})
	}
}

func TestTheNumberOfARefusedCreateIsReplaced(t *testing.T) {
	got, ok := body.SetRaw([]byte(`{"status":400,"failedElementNumber": 0 ,"e":{}}`), []string{"failedElementNumber"}, []byte("2"))
	if want := `{"status":400,"failedElementNumber": 2 ,"e":{}}`; !ok || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, ok, want)
	}
	if got, ok := body.SetRaw([]byte(`{"e":{}}`), []string{"failedElementNumber"}, []byte("2")); ok {
		t.Errorf("got %q of what has no number", got)
	}
}
