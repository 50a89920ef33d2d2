package recordjson

import "encoding/json"

type priorForm struct {
	Head   [HeadLength]int64 `json:"head"`
	Suffix string            `json:"suffix"`
	Trail  json.RawMessage   `json:"trail"`
	Rest   json.RawMessage   `json:"rest"`
}

// asPrior writes the form that stores write themselves when a claim takes a
// record that is free.
func (p *Packed) asPrior() (string, error) {
	form := priorForm{Suffix: p.Suffix, Trail: json.RawMessage(p.Trail), Rest: json.RawMessage(p.Rest)}
	for i, field := range p.Head.Fields() {
		form.Head[i] = *field
	}
	text, err := json.Marshal(form)
	return string(text), err
}

func (f *priorForm) packed(body []byte) Packed {
	p := Packed{Suffix: f.Suffix, Trail: string(f.Trail), Rest: string(f.Rest), Body: body}
	for i, field := range p.Head.Fields() {
		*field = f.Head[i]
	}
	return p
}
