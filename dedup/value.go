package dedup

// A ValueKind says what stands at a place.
type ValueKind uint8

const (
	MissingValue ValueKind = iota // absent, unreadable, or a member that stands twice
	NullValue
	BoolValue
	NumberValue
	StringValue
	ListValue
	ObjectValue
)

// A Value is what a request or an answer holds at some place. Bodies of every
// format decode to one, so that JSON, forms and XML look alike to a rule.
// The zero Value is missing.
type Value struct {
	Kind ValueKind
	// Literal is the text of a string (which may hold bytes that are not UTF-8,
	// and then has no Text), the digits of a number as they came, "true" or
	// "false", or, of a missing value, NaN, Infinity or -Infinity as it stood.
	Literal string
	Items   []Value  // of a list
	Members []Member // of an object, in the order of the body, each name once (a repeated one is MissingValue)
}

// A Member is one member of an object.
type Member struct {
	Name  string
	Value Value
}

// Member returns the member with the name, or the missing value; also of what
// is no object.
func (v Value) Member(name string) Value {
	if v.Kind != ObjectValue {
		return Value{}
	}
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return Value{}
}

// Item returns the item at index i, or the missing value; also of what is no
// list.
func (v Value) Item(i int) Value {
	if v.Kind != ListValue || i < 0 || i >= len(v.Items) {
		return Value{}
	}
	return v.Items[i]
}
