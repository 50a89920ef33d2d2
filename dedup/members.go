package dedup

// fewMembers is up to how many names are compared one by one.
const fewMembers = 16

// eachOnce returns the members with each name once, in place: one that stands
// twice or more is missing.
func eachOnce(members []Member) []Member {
	if len(members) > fewMembers {
		return eachOnceOfMany(members)
	}
	kept := members[:0]
next:
	for _, m := range members {
		for i := range kept {
			if kept[i].Name == m.Name {
				kept[i].Value = Value{}
				continue next
			}
		}
		kept = append(kept, m)
	}
	return kept
}

func eachOnceOfMany(members []Member) []Member {
	kept := members[:0]
	index := make(map[string]int, len(members))
	for _, m := range members {
		if i, found := index[m.Name]; found {
			kept[i].Value = Value{}
			continue
		}
		index[m.Name] = len(kept)
		kept = append(kept, m)
	}
	return kept
}
