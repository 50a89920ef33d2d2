package main

import (
	"fmt"
	"slices"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/extproc"
	"oneticket/extproc/envoy"
)

// streamRules are the rules of the configuration as the stream needs them.
func streamRules(cfg *config.Config, spec envoy.Spec, px proxy, m *admin.Metrics) (*extproc.Rules, error) {
	hosts, err := spec.Hosts()
	if err != nil {
		return nil, err
	}
	m.NewRules()
	cfg = cfg.Connected(connected)
	rules := &extproc.Rules{Config: cfg.Hash, Hosts: hosts}
	fields := map[string]*extproc.FieldSwitch{}
	for _, r := range cfg.Rules {
		r.OnUnknownSeverity = m.UnknownSeverity
		one := streamRule(r, px, m)
		one.Field = switchOf(fields, one)
		rules.Rules = append(rules.Rules, one)
	}
	return rules, nil
}

// switchOf is the one switch of all rules with the same field of a backend. It
// is new, and on, in every configuration.
func switchOf(fields map[string]*extproc.FieldSwitch, r *extproc.Rule) *extproc.FieldSwitch {
	name := r.Backend + " " + r.FieldName()
	if fields[name] == nil {
		fields[name] = &extproc.FieldSwitch{}
	}
	return fields[name]
}

// fieldSentences say of which backends a field of their own is left alone.
func fieldSentences(rules *extproc.Rules) []string {
	var all []string
	for _, r := range rules.Rules {
		if !r.Field.Off() {
			continue
		}
		all = append(all, fmt.Sprintf("backend %s refuses our token in its field %s: creates go without it, and a lost answer cannot be looked up, until oneticket is started again or has another configuration; name another field, or none: token = { field = null }", r.Backend, r.FieldName()))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// streamRule is a rule as the stream needs it.
func streamRule(r *config.Rule, px proxy, m *admin.Metrics) *extproc.Rule {
	return &extproc.Rule{
		Name:          r.Name,
		Backend:       r.Backend.Name,
		Action:        extproc.Action(r.Action),
		Match:         r.Matches,
		Fault:         readingFault(r, m),
		Judge:         r.Judge,
		Policy:        r.Policy,
		Want:          r.Wants(),
		WantAnswer:    r.AnswerWants(),
		RejectMissing: r.RejectMissing,
		TokenHeader:   r.TokenHeader,
		TokenField:    r.TokenField,
		TokenList:     r.TokenList,
		TokenItem:     r.TokenItem,
		TokenVolatile: r.TokenVolatile,
		Native:        r.NativeToken,
		RejectsField:  r.RejectsField,
		ReplayHeaders: r.ReplayHeaders,
		DropHeaders:   r.DropHeaders,
		Wait:          r.Wait,
		MaxWaiters:    r.MaxWaiters,
		BusyStatus:    r.BusyStatus,
		Timeout:       r.Backend.Timeout,
		SafeRetries:   px.safeRetries,
		MaxBody:       r.MaxBody,
		MaxAnswer:     r.MaxAnswer,

		Each: eachOf(r),

		Principal:        r.Principal,
		Credential:       r.Credential,
		CredentialHeader: r.RedactHeader,
		CredentialQuery:  r.CredentialQuery,
		Presents:         r.Presents,

		Asks:            asksOf(r),
		Resolves:        resolvesOf(r),
		HealWithin:      r.HealWithin,
		Resend:          r.Resend,
		OnUpdateForward: r.OnUpdate == "forward",
		OnClearedAnswer: r.OnCleared == "answer",
	}
}
