package main

import (
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
	for _, r := range cfg.Rules {
		r.OnUnknownSeverity = m.UnknownSeverity
		rules.Rules = append(rules.Rules, streamRule(r, px, m))
	}
	return rules, nil
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
		Native:        r.NativeToken,
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

		Asks:            asksOf(r),
		Resolves:        resolvesOf(r),
		HealWithin:      r.HealWithin,
		Resend:          r.Resend,
		OnUpdateForward: r.OnUpdate == "forward",
		OnClearedAnswer: r.OnCleared == "answer",
	}
}
