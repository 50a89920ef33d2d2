package dedup_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"oneticket/dedup"
)

// A mutant is the shipped code with one rule left out. Each rule exists
// because a schedule without it loses or doubles an incident, so each mutant
// must be caught.
//
// Rules that have no mutant here: prov_token, outbox, rec_pending, rec_doubt,
// rec_verify and prov_late belong to an outage of the shared store, dl_claim
// to the replay of dead letters, and neither is decided by these functions;
// dup_withdraw belongs to whoever keeps the reports (the simulator withdraws);
// own_lease is safe in either reading as long as the fence holds.
type mutant struct {
	rule    string
	breaks  func(r *rules)
	setting func(r *rand.Rand) *setting // nil = any
}

func mutants() []mutant {
	return []mutant{
		{rule: "land", breaks: mutateLand, setting: on("look")},
		{rule: "restore", breaks: mutateRestore},
		{rule: "holder", breaks: mutateHolder, setting: on("nothing")},
		{rule: "found_closed", breaks: mutateFoundClosed, setting: on("look")},
		{rule: "fp_sent", breaks: mutateFingerprintSent, setting: on("look")},
		{rule: "fold_fp", breaks: mutateFoldFingerprint, setting: on("folds")},
		{rule: "fold_plain", breaks: mutateFoldPlain, setting: on("folds")},
		{rule: "upd_unknown", breaks: mutateUpdateUnknown},
		{rule: "upd_refused", breaks: mutateUpdateRefused, setting: on("look")},
		{rule: "upd_lease", breaks: mutateUpdateLease},
		{rule: "upd_own", breaks: mutateUpdateOwn},
		{rule: "upd_settle", breaks: mutateUpdateSettle, setting: worried("nothing", "a:A b:B c:A", slow)},
		{rule: "upd_closed", breaks: mutateUpdateClosed},
		{rule: "gone", breaks: mutateGone, setting: on("look")},
		{rule: "rate_worse", breaks: mutateRateOfWorse},
		{rule: "clear_none", breaks: mutateClearNone},
		{rule: "clear_wait", breaks: mutateClearWait},
		{rule: "clear_settle", breaks: mutateClearSettle, setting: worried("look", "a:A b:C c:A d:A", slow, passing, passing)},
		{rule: "tomb", breaks: func(r *rules) { r.keepClose = false }},
		{rule: "late_adopt", breaks: mutateLateAdopt, setting: on("nothing")},
		{rule: "dup_report", breaks: mutateDuplicateReport, setting: on("nothing")},
		{rule: "store_ep", breaks: mutateStoreEpisode, setting: on("remembers")},
		{rule: "verify_after", breaks: mutateVerifyAfter, setting: worried("look", "a:A b:A c:A", human, passing, passing, passing)},
		{rule: "lookup_fail", breaks: mutateLookUpFail, setting: on("look+noright")},
		{rule: "doubt_live", breaks: mutateDoubtLive, setting: on("look")},
		{rule: "close_id", breaks: mutateCloseID},
		{rule: "swap_own", breaks: mutateSwapOwn},
		{rule: "fence", breaks: func(r *rules) { r.ready = func(int, int, int) bool { return true } }, setting: on("look")},
		{rule: "wait_ep", breaks: mutateWaitEpisode, setting: told(worried("look", "a:A b:C c:A", human))},
		{rule: "own_step", breaks: mutateOwnStep, setting: on("look")},
		{rule: "tok_next", breaks: mutateTokenNext, setting: on("remembers")},
		{rule: "resend_first", breaks: func(r *rules) { r.overtaken = func(dedup.Send, dedup.Found) bool { return false } }, setting: on("folds")},
		{rule: "resend_owed", breaks: func(r *rules) { r.unowed = func(dedup.Record) bool { return false } }, setting: worried("folds", "a:A b:C", slow, passing, passing)},
		{rule: "keep_doubt", breaks: mutateKeepDoubt, setting: on("nothing")},
	}
}

// on makes settings with one ticket system.
func on(system string) func(r *rand.Rand) *setting {
	return func(r *rand.Rand) *setting { return randomSettingOf(r, systemNamed(system)) }
}

// worried makes settings of one ticket system, one order of requests and a few
// faults, for what is rare among all settings.
func worried(system, requests string, worries ...fault) func(r *rand.Rand) *setting {
	return func(r *rand.Rand) *setting {
		s := &setting{system: systemNamed(system), onClosed: accepts, requests: requestsOf(requests)}
		s.policy = policyOf(s.system, false, true, false)
		for _, f := range worries {
			s.faults[f]++
		}
		return s
	}
}

// told makes settings in which a person's close is told to us.
func told(worried func(r *rand.Rand) *setting) func(r *rand.Rand) *setting {
	return func(r *rand.Rand) *setting {
		s := worried(r)
		s.webhook = true
		return s
	}
}

// mutantSchedules is how many schedules may pass before a mutant is caught.
const mutantSchedules = 400_000

func TestEveryRuleLeftOutIsCaught(t *testing.T) {
	t.Parallel()
	for _, m := range mutants() {
		t.Run(m.rule, func(t *testing.T) {
			t.Parallel()
			broken := shipped()
			m.breaks(&broken)
			for seed := range uint64(mutantSchedules) {
				random := rand.New(rand.NewPCG(seed, 2))
				setting := m.setting
				if setting == nil {
					setting = randomSetting
				}
				w := newWorld(setting(random), broken)
				w.schedule(random)
				if w.broken != "" {
					t.Logf("caught after %d schedules: %s", seed+1, w.broken)
					return
				}
			}
			t.Errorf("not caught in %d schedules", mutantSchedules)
		})
	}
}

func mutateLand(r *rules) {
	r.afterLookUp = func(rec dedup.Record, c dedup.Claim, result dedup.LookUpResult, now time.Time) dedup.Decision {
		c.Policy = settlingIn(c.Policy, 0)
		return dedup.AfterLookUp(rec, c, result, now)
	}
}

func settlingIn(p *dedup.Policy, d time.Duration) *dedup.Policy {
	other := *p
	other.Settle = d
	return &other
}

// mutateRestore deletes the record, whatever else is unresolved.
func mutateRestore(r *rules) {
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.Settle(rec, s, o, p, now)
		if st.Next != nil && (o.Kind == dedup.OutcomeRefused || o.Kind == dedup.OutcomeNeverSent) {
			st.Next = &dedup.Record{V: dedup.Format, State: dedup.None, Version: rec.Version}
		}
		return st
	}
}

// mutateHolder compares the version only.
func mutateHolder(r *rules) {
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		if rec.State == dedup.Claimed && !rec.Looking && rec.Episode == s.Episode {
			s.Holder = rec.Holder
			rec.Attempts = nil
		}
		return dedup.Settle(rec, s, o, p, now)
	}
}

func mutateFoundClosed(r *rules) {
	r.afterLookUp = func(rec dedup.Record, c dedup.Claim, result dedup.LookUpResult, now time.Time) dedup.Decision {
		opened := dedup.LookUpResult{Answered: result.Answered}
		for _, t := range result.Tickets {
			t.Open = true
			opened.Tickets = append(opened.Tickets, t)
		}
		return dedup.AfterLookUp(rec, c, opened, now)
	}
}

// mutateFingerprintSent writes the fingerprint of the request that looked.
func mutateFingerprintSent(r *rules) {
	r.afterLookUp = func(rec dedup.Record, c dedup.Claim, result dedup.LookUpResult, now time.Time) dedup.Decision {
		d := dedup.AfterLookUp(rec, c, result, now)
		if d.Next != nil && d.Next.State == dedup.Open && !c.Fault.Fingerprint.Cleared {
			d.Next.Fingerprint = c.Fault.Fingerprint
			d.Kind, d.Reason = dedup.Suppress, dedup.Recovered
		}
		return d
	}
}

func mutateFoldFingerprint(r *rules) {
	r.settle = func(rec dedup.Record, s dedup.Send, o dedup.Outcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.Settle(rec, s, o, p, now)
		if st.Next != nil && st.Next.State == dedup.Open && o.Kind == dedup.OutcomeCreated {
			st.Next.Fingerprint = s.Fingerprint
		}
		return st
	}
}

func mutateFoldPlain(r *rules) {
	r.offer = func(c dedup.Claim) *dedup.Offer {
		o := c.Offer()
		if o != nil {
			o.Token.Style = dedup.EpisodeToken
		}
		return o
	}
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		d := dedup.Decide(rec, c, now)
		if d.Kind == dedup.Create && d.Next != nil && d.Next.Episode > rec.Episode {
			d.Next.Token = dedup.TokenRule{Key: c.Fault.Ref.Key, Style: dedup.EpisodeToken}.Token(d.Next.Episode, now)
		}
		return d
	}
}

// mutateUpdateUnknown leaves the record as it was before the update.
func mutateUpdateUnknown(r *rules) {
	r.settleUpdate = func(rec dedup.Record, ch dedup.Change, o dedup.UpdateOutcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		if o.Kind == dedup.UpdateUnknown {
			o.Kind = dedup.UpdateNotSent
		}
		return dedup.SettleUpdate(rec, ch, o, p, now)
	}
}

// mutateUpdateRefused does not read the ticket.
func mutateUpdateRefused(r *rules) {
	r.settleUpdate = func(rec dedup.Record, ch dedup.Change, o dedup.UpdateOutcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		if o.Kind == dedup.UpdateRefused {
			o.Kind = dedup.UpdateNotSent
		}
		return dedup.SettleUpdate(rec, ch, o, p, now)
	}
}

func mutateUpdateLease(r *rules) {
	r.decide = func(rec dedup.Record, c dedup.Claim, now time.Time) dedup.Decision {
		if u := rec.Update; u != nil && !now.Before(u.LeaseUntil) {
			return dedup.Decision{Kind: dedup.Wait}
		}
		return dedup.Decide(rec, c, now)
	}
}

func mutateUpdateOwn(r *rules) {
	r.settleUpdate = func(rec dedup.Record, ch dedup.Change, o dedup.UpdateOutcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		if rec.Update == nil && rec.Episode == ch.Episode && (rec.State == dedup.Open || rec.State == dedup.Closed) {
			rec.Update = &dedup.UpdateClaim{Holder: ch.Holder, LeaseUntil: now.Add(time.Second), Fingerprint: ch.Fingerprint}
		}
		return dedup.SettleUpdate(rec, ch, o, p, now)
	}
}

func mutateUpdateSettle(r *rules) {
	r.settleUpdate = func(rec dedup.Record, ch dedup.Change, o dedup.UpdateOutcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		ch.At = now.Add(24 * time.Hour)
		return dedup.SettleUpdate(rec, ch, o, p, now)
	}
}

func mutateUpdateClosed(r *rules) {
	r.settleUpdate = func(rec dedup.Record, ch dedup.Change, o dedup.UpdateOutcome, p *dedup.Policy, now time.Time) dedup.Settlement {
		st := dedup.SettleUpdate(rec, ch, o, p, now)
		st.Success = st.Success || o.Kind == dedup.UpdateApplied
		return st
	}
}
