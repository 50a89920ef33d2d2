package extproc

import "google.golang.org/protobuf/types/known/structpb"

// attributes are what the proxy says of one direction of an exchange. What was
// not sent is absent, and never a zero.
type attributes struct{ fields map[string]*structpb.Value }

const attributesOf = "envoy.filters.http.ext_proc"

func (a attributes) text(name string) string { return a.fields[name].GetStringValue() }

// number is false where the attribute was not sent.
func (a attributes) number(name string) (uint64, bool) {
	v, ok := a.fields[name].GetKind().(*structpb.Value_NumberValue)
	if !ok || v.NumberValue < 0 {
		return 0, false
	}
	return uint64(v.NumberValue), true
}
