package body

import (
	"encoding/json"
	"slices"
	"strings"
)

// inPatch is where in a list of JSON Patch (RFC 6902) the value goes: in an
// operation of its own that adds it, behind the last. The path is written as
// JSON Patch has it, in one piece or in those that a "." cuts it into.
func inPatch(s *scanner, w writing) (edit, bool) {
	path := strings.Join(w.Path, ".")
	if w.List || w.Item != nil || !strings.HasPrefix(path, "/") {
		return edit{}, false
	}
	text := s.text
	tail, items := s.pos+1, 0
	for item := range s.items() {
		var operation struct{ Path, Op *string }
		if json.Unmarshal(text[item.start:item.end], &operation) != nil || operation.Path == nil || operation.Op == nil || *operation.Path == path {
			return edit{}, false
		}
		tail, items = item.end, items+1
	}
	if items == 0 {
		return edit{}, false
	}
	quotedPath, okPath := quote(path)
	quotedValue, okValue := quote(w.value)
	return edit{tail, tail, slices.Concat([]byte(`,{"op":"add","path":`), quotedPath, []byte(`,"value":`), quotedValue, []byte{'}'})},
		okPath && okValue
}
