package config

import "oneticket/dedup"

// Connected says which outside calls somebody makes. A rule's policy counts on
// a call only when the rule has it and it is made.
type Connected struct{ LookUp, Read, Update bool }

// Connected is the configuration for a process that makes these calls. Without
// it no policy counts on any.
func (c *Config) Connected(by Connected) *Config {
	out := *c
	out.Rules = make([]*Rule, len(c.Rules))
	for i, r := range c.Rules {
		out.Rules[i] = r.connected(by)
	}
	return &out
}

func (r *Rule) connected(by Connected) *Rule {
	out := *r
	out.policies = make(map[string]*dedup.Policy, len(r.policies))
	for class, p := range r.policies {
		p = r.calls.policy(p, by)
		p.CanUpdate = p.CanUpdate || by.Update && r.OnUpdate == "forward"
		p.OnUpdateFailed = r.OnUpdateFailed
		out.policies[class] = p
	}
	if r.policy != nil {
		out.policy = out.policies[DefaultClass]
	}
	return &out
}

func (k *calls) policy(of *dedup.Policy, by Connected) *dedup.Policy {
	p := *of
	if p.CanLookUp = by.LookUp && k.lookUp != nil; p.CanLookUp {
		p.Settle = max(p.Settle, k.lookUp.settle)
	}
	if p.CanRead = by.Read && k.read != nil; p.CanRead {
		p.VerifyEvery = k.verifyEvery
	}
	p.CanUpdate = by.Update && (k.update != nil || k.clear != nil)
	p.CanReopen = by.Update && k.reopen != nil
	return &p
}

// Calls says which outside calls the rule has, whoever makes them.
func (r *Rule) Calls() Connected {
	k := &r.calls
	return Connected{LookUp: k.lookUp != nil, Read: k.read != nil, Update: k.update != nil || k.clear != nil || k.reopen != nil}
}
