package main_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// A jiraDesk makes issues, one or several, and finds them by their labels.
type jiraDesk struct {
	mu     sync.Mutex
	labels []string // of each issue
	lost   int      // bulk requests whose answer is still to be lost
}

func (d *jiraDesk) answer(q *wireRequest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	type issue struct{ Fields struct{ Labels []string } }
	var body struct {
		IssueUpdates []issue
		Fields       *struct{}
	}
	_ = json.Unmarshal([]byte(q.body), &body)
	shown := func(n int) string { return fmt.Sprintf(`{"id":"%d","key":"OPS-%d","self":"http://x/%d"}`, n, n, n) }
	switch {
	case q.method == "GET" && strings.Contains(q.uri, "/search"):
		var found []string
		for i, label := range d.labels {
			if strings.Contains(q.uri, url.QueryEscape(label)) {
				found = append(found, strings.TrimSuffix(shown(i+1), "}")+`,"fields":{"labels":["`+label+`"],"status":{"statusCategory":{"key":"new"}}}}`)
			}
		}
		q.json(200, `{"total":`+fmt.Sprint(len(found))+`,"issues":[`+strings.Join(found, ",")+`]}`)
	case q.method == "POST":
		var made []string
		for _, one := range body.IssueUpdates {
			d.labels = append(d.labels, strings.Join(one.Fields.Labels, ","))
			made = append(made, shown(len(d.labels)))
		}
		if d.lost > 0 {
			d.lost--
			q.hangs()
			return
		}
		q.json(201, `{"issues":[`+strings.Join(made, ",")+`],"errors":[]}`)
	default:
		q.json(404, `{}`)
	}
}

// TestABulkOfJiraIsGuardedByABareBackend: each issue by itself, and a lost answer
// is healed for all of them.
func TestABulkOfJiraIsGuardedByABareBackend(t *testing.T) {
	t.Parallel()
	d := &jiraDesk{lost: 1}
	w := newWire(t, d.answer)
	newWired(t, wired{"jira/issue", "", w})
	bulk := func(titles ...string) answer {
		var all []string
		for _, title := range titles {
			all = append(all, `{"fields":{"project":{"key":"OPS"},"summary":"`+title+`"}}`)
		}
		return w.send(t, "POST", "/rest/api/2/issue/bulk", typeJSON, `{"issueUpdates":[`+strings.Join(all, ",")+`]}`, "Authorization", "Basic dTpw")
	}
	both := `{"issues":[{"id":"1","key":"OPS-1","self":"http://x/1"},{"id":"2","key":"OPS-2","self":"http://x/2"}],"errors":[]}`
	lost := bulk("a", "b")
	lost.decided(t, 201, "suppress; reason=recovered")
	if lost.body != both || lost.replayed {
		t.Errorf("healed: %s, replayed %v", lost.body, lost.replayed)
	}
	if again := bulk("a", "b"); again.body != both || !again.replayed {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	if more := bulk("b", "c"); more.status != 201 || !strings.Contains(more.body, `"OPS-2"`) || !strings.Contains(more.body, `"OPS-3"`) {
		t.Errorf("one more: %d %s", more.status, more.body)
	}
	posts := w.all("POST")
	if len(posts) != 2 || strings.Count(posts[1].body, "summary") != 1 {
		t.Fatalf("%d requests: %+v", len(posts), posts)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, label := range d.labels {
		if !strings.HasPrefix(label, "idem:") || strings.Contains(label, ",") || i > 0 && label == d.labels[0] {
			t.Errorf("the labels are %q", d.labels)
		}
	}
}
