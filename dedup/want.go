package dedup

// A Want says which places of a body are to be read. It is compiled once from
// the paths that a rule's expressions name, is immutable, and a nil Want is
// everything.
type Want struct {
	all     bool // this place and all below it
	members []wantedMember
	byName  map[string]int // index into members, where they are many
	items   *Want          // of each item of a list
}

type wantedMember struct {
	name string
	want *Want
}

// A Step goes one level down: into the member with the name, or into every
// item of a list.
type Step struct {
	Name  string
	Items bool // every item; Name is not looked at
}

// manyMembers is from how many names on they are looked up in a map.
const manyMembers = 8

var everything = &Want{all: true}

// NewWant returns the Want for the places at the ends of the paths, each with
// all that is below it; the empty path is the whole body. body.fields.project
// .key is three steps by name; body.fields[7].value is a name, all items, a
// name; body[body.which], which cannot be known before, is the empty path. No
// path at all wants nothing: the body is only checked.
func NewWant(paths ...[]Step) *Want {
	root := &Want{}
	for _, path := range paths {
		root.add(path)
	}
	root.index()
	return root
}

func (w *Want) add(path []Step) {
	if len(path) == 0 {
		w.all = true
		return
	}
	w.below(path[0]).add(path[1:])
}

// below returns the Want one step down, made when it is not there.
func (w *Want) below(step Step) *Want {
	if step.Items {
		if w.items == nil {
			w.items = &Want{}
		}
		return w.items
	}
	for _, m := range w.members {
		if m.name == step.Name {
			return m.want
		}
	}
	next := &Want{}
	w.members = append(w.members, wantedMember{step.Name, next})
	return next
}

func (w *Want) index() {
	for _, m := range w.members {
		m.want.index()
	}
	if w.items != nil {
		w.items.index()
	}
	if len(w.members) <= manyMembers {
		return
	}
	w.byName = make(map[string]int, len(w.members))
	for i, m := range w.members {
		w.byName[m.name] = i
	}
}

// member returns the wanted member with the name, or nil. Below a place that
// is wanted whole, the caller needs not ask.
func (w *Want) member(name []byte) *wantedMember {
	if w.byName != nil {
		if i, found := w.byName[string(name)]; found {
			return &w.members[i]
		}
		return nil
	}
	for i := range w.members {
		if w.members[i].name == string(name) {
			return &w.members[i]
		}
	}
	return nil
}

// Whole reports whether the place is wanted with all that is below it.
func (w *Want) Whole() bool { return w == nil || w.all }

// At returns what is wanted of the member with the name; false when it is not
// wanted. The name comes back as a string, so that a reader of bodies makes one
// only where the place is wanted whole.
func (w *Want) At(name []byte) (string, *Want, bool) {
	if w.Whole() {
		return string(name), w, true
	}
	if m := w.member(name); m != nil {
		return m.name, m.want, true
	}
	return "", nil, false
}

// AtItems returns what is wanted of every item of a list; false when only
// members are wanted.
func (w *Want) AtItems() (*Want, bool) {
	if w.Whole() {
		return w, true
	}
	return w.items, w.items != nil
}
