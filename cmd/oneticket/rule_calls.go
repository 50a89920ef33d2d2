package main

import (
	"oneticket/config"
	"oneticket/dedup"
	"oneticket/extproc"
)

// connected are the outside calls that this process makes.
var connected = config.Connected{LookUp: true, Read: true, Update: true}

// asksOf are the rule's outside calls.
func asksOf(r *config.Rule) extproc.Asks {
	var a extproc.Asks
	has := r.Calls()
	if has.LookUp {
		a.LookUp, a.Found = r.LookUp, r.Found
	}
	if has.Read {
		a.Read, a.ReadAnswer = r.ReadCall, r.ReadAnswer
	}
	if has.Update {
		a.Update, a.Updated, a.Blind = r.UpdateCall, r.Updated, !r.UpdatedTellsClosed()
	}
	return a
}

// resolvesOf is how the rule sees that clients close tickets.
func resolvesOf(r *config.Rule) extproc.Resolves {
	if len(r.ResolveMethods()) == 0 {
		return extproc.Resolves{}
	}
	head := func(req *dedup.Request) bool {
		_, closes := r.Resolves(req)
		_, reads := r.ReadsTicket(req)
		return closes || reads
	}
	request, answer := r.ResolveWants()
	return extproc.Resolves{Head: head, Closed: r.Resolved, Want: request, Answer: answer}
}

// eachOf is how the rule takes requests apart.
func eachOf(r *config.Rule) *extproc.Each {
	if r.Each == nil {
		return nil
	}
	each := extproc.Each(*r.Each)
	return &each
}
