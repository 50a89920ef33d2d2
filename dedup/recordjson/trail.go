package recordjson

import "oneticket/dedup"

type traceForm struct {
	At     int64  `json:"at,omitzero"`
	Kind   string `json:"kind,omitzero"`
	Reason string `json:"reason,omitzero"`
	Config string `json:"config,omitzero"`
	By     string `json:"by,omitzero"`
}

func trailOf(trail []dedup.Trace) []traceForm {
	return each(trail, func(t dedup.Trace) traceForm {
		return traceForm{
			At: Micros(t.At), Kind: string(t.Kind), Reason: string(t.Reason),
			Config: armour(t.Config), By: armour(t.By),
		}
	})
}

func traces(trail []traceForm) []dedup.Trace {
	return each(trail, func(f traceForm) dedup.Trace {
		return dedup.Trace{
			At: Time(f.At), Kind: dedup.Kind(f.Kind), Reason: dedup.Reason(f.Reason),
			Config: bare(f.Config), By: bare(f.By),
		}
	})
}
