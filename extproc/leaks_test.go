package extproc_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/extproc"
)

// TestAClientThatGoesAtAnyMomentLeavesNothing: neither a goroutine nor somebody
// who waits, nor a claim that nobody ends, nor what is held for a create.
func TestAClientThatGoesAtAnyMomentLeavesNothing(t *testing.T) {
	const times = 100
	const kept = 16*3 + 4 // connections to the backend that stay open, at both ends
	moments := map[string]func(p *proxy, body string){
		"at once":           func(*proxy, string) {},
		"behind the header": func(p *proxy, _ string) { p.ask(requestHeaders(bot...)) },
		"with the header":   func(p *proxy, _ string) { p.send(requestHeaders(bot...)) },
		"with the body":     func(p *proxy, body string) { p.ask(requestHeaders(bot...)); p.send(requestBody(body)) },
		"behind the body":   func(p *proxy, body string) { p.create(body, bot...) },
		"with the answer":   func(p *proxy, body string) { p.create(body, bot...); p.send(responseHeaders("201", false)) },
		"behind its header": func(p *proxy, body string) { p.create(body, bot...); p.ask(responseHeaders("201", false)) },
		"with its body": func(p *proxy, body string) {
			p.create(body, bot...)
			p.ask(responseHeaders("201", false))
			p.send(responseBody(created1))
		},
		"while it is looked up": func(p *proxy, body string) {
			p.create(body, bot...)
			p.ask(local("503"))
			p.send(responseBody("upstream connect error"))
		},
	}
	for name, moment := range moments {
		t.Run(name, func(t *testing.T) {
			r, _ := newDeskRig(t, func(r *rig, o *extproc.Options, p *dedup.Policy) {
				if name == "while it is looked up" { // takes seconds
					r.rule.HealWithin, r.rule.Resend = 50*time.Millisecond, 1
				}
				p.Settle = 50 * time.Millisecond
				o.Letters = &letterBox{}
			})
			p := r.proxy() // opens what stays open
			p.create(createBody, bot...)
			p.answer("201", created1)
			p.gone()
			bodies := make([]string, times)
			began := 0
			for i := range bodies {
				bodies[i] = strings.Replace(createBody, "db-07", fmt.Sprint("db-", i), 1)
				p := r.proxy()
				moment(p, bodies[i])
				p.gone()
				if i == 0 {
					eventually(t, "all has ended", func() bool { return r.server.Following() == 0 && r.server.Waiting() == 0 })
					runtime.GC()
					began = runtime.NumGoroutine()
				}
			}
			eventually(t, "nothing is held", func() bool { return r.server.Following() == 0 && r.server.Waiting() == 0 })
			eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= began+kept })
			for _, body := range bodies {
				eventually(t, "no claim is left", func() bool { return r.record(body).State != dedup.Claimed })
			}
			if n := r.count.of("waiting"); n != 0 {
				t.Errorf("%d wait", n)
			}
		})
	}
}
