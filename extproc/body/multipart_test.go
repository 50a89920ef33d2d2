package body_test

import (
	"strings"
	"testing"
)

// multipartOf is the body that LWP makes of names and values.
func multipartOf(boundary string, namesAndValues ...string) string {
	var b strings.Builder
	for i := 0; i < len(namesAndValues); i += 2 {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + namesAndValues[i] + "\"\r\n\r\n" + namesAndValues[i+1] + "\r\n")
	}
	return b.String() + "--" + boundary + "--\r\n"
}

const (
	ofX  = "multipart/form-data; boundary=X"
	file = "--X\r\nContent-Disposition: form-data; name=\"attachment_1\"; filename=\"a\xFF.png\"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x00--X\r\n"
)

func TestPartsAreFields(t *testing.T) {
	mail := "From: a@b.test\nSubject: disk full\n\ndisk full\n"
	for name, c := range map[string]struct {
		text, contentType string
		places            map[string]string
	}{
		"in one order":           {multipartOf("X", "queue", "General", "action", "correspond"), ofX, map[string]string{"queue": "General", "action": "correspond"}},
		"in another":             {multipartOf("X", "action", "correspond", "queue", "General"), ofX, map[string]string{"queue": "General", "action": "correspond"}},
		"a mail":                 {multipartOf("X", "message", mail), ofX, map[string]string{"message": strings.TrimSpace(mail)}},
		"a part twice":           {multipartOf("X", "a", "1", "a", "1", "b", "2"), ofX, map[string]string{"a": missing, "b": "2"}},
		"a file":                 {file + multipartOf("X", "host", "db-07"), ofX, map[string]string{"attachment_1": missing, "host": "db-07"}},
		"JSON in a part":         {multipartOf("X", "p", ` {"a":{"b":1}} `), ofX, map[string]string{"p/a/b": "1"}},
		"a preamble":             {"x --X\r\n" + multipartOf("X", "a", "1") + "rest", ofX, map[string]string{"a": "1"}},
		"no line ends of CR":     {strings.ReplaceAll(multipartOf("X", "a", "1\n"), "\r", ""), ofX, map[string]string{"a": "1"}},
		"a boundary unsaid":      {multipartOf("X", "a", "1"), "multipart/form-data", map[string]string{"a": "1"}},
		"a longer boundary":      {multipartOf("X", "a", "--XY\r\n--X-\r\n"), ofX, map[string]string{"a": "--XY\r\n--X-"}},
		"an empty part":          {multipartOf("X", "a", "", "b", "1"), ofX, map[string]string{"a": missing, "b": "1"}},
		"a name without marks":   {"--X\r\ncontent-disposition: form-data; name=a\r\n\r\n1\r\n--X--", ofX, map[string]string{"a": "1"}},
		"a charset of its own":   {"--X\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=latin1\r\n\r\nbr\xFCcke\r\n--X--", ofX, map[string]string{"a": "brücke"}},
		"a charset that is none": {"--X\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=klingon\r\n\r\nx\r\n--X--", ofX, map[string]string{"a": missing}},
		"base64":                 {"--X\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\neA==\r\n--X--", ofX, map[string]string{"a": missing}},
	} {
		t.Run(name, func(t *testing.T) { checkPlaces(t, decoded(t, c.text, c.contentType), c.places) })
	}
}

func TestMultipartThatIsNone(t *testing.T) {
	for name, text := range map[string]string{
		"cut off":             strings.TrimSuffix(multipartOf("X", "a", "1"), "--X--\r\n"),
		"no boundary":         "a=1\r\n",
		"a part without name": "--X\r\nContent-Type: text/plain\r\n\r\n1\r\n--X--",
		"a part without body": "--X\r\nContent-Disposition: form-data; name=a\r\n--X--",
		"a header broken":     "--X\r\nContent-Disposition: form-data; name=\"a\r\n\r\n1\r\n--X--",
	} {
		t.Run(name, func(t *testing.T) {
			b := decoded(t, text, ofX)
			if v, err := b.Value(nil); err == nil {
				t.Errorf("got %v", v)
			}
			checkSet(t, text, ofX, []string{"key"}, "")
		})
	}
}

func TestTheTokenInAPart(t *testing.T) {
	one := []string{"key"}
	for name, c := range map[string]struct {
		path     []string
		in, want string
	}{
		"absent":          {one, file + multipartOf("X", "a", "1"), file + multipartOf("X", "a", "1", "key", "idem:1")},
		"empty":           {one, multipartOf("X", "key", "", "a", "1"), multipartOf("X", "key", "idem:1", "a", "1")},
		"his own":         {one, multipartOf("X", "key", "k"), ""},
		"twice":           {one, multipartOf("X", "key", "", "key", ""), ""},
		"a file":          {[]string{"attachment_1"}, file + multipartOf("X"), ""},
		"in JSON":         {[]string{"p", "k"}, multipartOf("X", "p", `{"a": 1}`), multipartOf("X", "p", `{"a": 1,"k":"idem:1"}`)},
		"in lines of RT":  {[]string{"content", "CF", "Key"}, multipartOf("X", "content", "# x\n\nid: 1\nText: \n\n"), multipartOf("X", "content", "# x\n\nCF.{Key}: idem:1\nid: 1\nText: \n\n")},
		"in text":         {[]string{"p", "k"}, multipartOf("X", "p", "x"), ""},
		"a name to quote": {[]string{"a\"b"}, multipartOf("X", "p", "x"), ""},
	} {
		t.Run(name, func(t *testing.T) { checkSet(t, c.in, ofX, c.path, c.want) })
	}
	t.Run("a list", func(t *testing.T) {
		checkAdd(t, multipartOf("X", "l", "a"), ofX, []string{"l"}, multipartOf("X", "l", "a", "l", "idem:1"))
		checkAdd(t, multipartOf("X", "l", "idem:1"), ofX, []string{"l"}, "")
	})
}
