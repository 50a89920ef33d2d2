package extproc_test

import (
	"testing"

	"oneticket/dedup"
	"oneticket/extproc"
)

const started = "upstream_reset_before_response_started"

// The rows are those of what Envoy was seen to say, and the cases beside them.
func TestWhatEnvoySaysOfACreate(t *testing.T) {
	const (
		never    = dedup.OutcomeNeverSent
		unknown  = dedup.OutcomeUnknown
		created  = dedup.OutcomeCreated
		refused  = dedup.OutcomeRefused
		exists   = dedup.OutcomeExists
		remember = dedup.OutcomeRemembered
	)
	for name, c := range map[string]struct {
		flags    uint64
		details  string
		attempts int
		status   int
		says     dedup.Says
		want     dedup.OutcomeKind
		more     func(*extproc.Ending)
	}{
		"connection refused":      {flags: 32, details: started + "{remote_connection_failure|delayed_connect_error:_Connection_refused}", attempts: 1, status: 503, want: never},
		"connect timeout":         {flags: 32, details: started + "{connection_timeout}", attempts: 1, status: 503, want: never},
		"not TLS":                 {flags: 32, details: started + "{remote_connection_failure|TLS_error:_wrong_version}", attempts: 1, status: 503, want: never},
		"no endpoints":            {flags: 2, details: "no_healthy_upstream", attempts: 1, status: 503, want: never},
		"DNS fails":               {flags: 67108864, details: "dns_resolution_failure{x}", attempts: 0, status: 503, want: never},
		"unknown cluster":         {flags: 16777216, details: "cluster_not_found", attempts: 0, status: 503, want: never},
		"circuit breaker":         {flags: 128, details: started + "{overflow}", attempts: 1, status: 503, want: never},
		"no route":                {flags: 256, details: "route_not_found", attempts: 0, status: 404, want: never},
		"direct response":         {details: "direct_response", attempts: 0, status: 201, says: dedup.SaysCreated, want: never},
		"request too large":       {details: "request_payload_too_large", attempts: 0, status: 413, want: never},
		"refused stream":          {flags: 16, details: started + "{remote_refused_stream_reset}", attempts: 1, status: 503, want: never},
		"other reset":             {flags: 16, details: started + "{remote_reset}", attempts: 1, status: 503, want: unknown},
		"accepted then closed":    {flags: 64, details: started + "{connection_termination}", attempts: 1, status: 503, want: unknown},
		"garbage answer":          {flags: 8388608, details: started + "{protocol_error}", attempts: 1, status: 502, want: unknown},
		"route timeout":           {flags: 4, details: "response_timeout", attempts: 1, status: 504, want: unknown},
		"per-try timeout":         {flags: 32772, details: "upstream_per_try_timeout", attempts: 3, status: 504, want: unknown},
		"stream idle timeout":     {flags: 65536, details: "stream_idle_timeout", attempts: 1, status: 504, want: unknown},
		"max stream duration":     {details: "max_duration_timeout", attempts: 1, status: 504, want: unknown},
		"half an answer":          {details: "via_upstream", attempts: 1, status: 201, says: dedup.SaysCreated, want: unknown, more: cutOff},
		"half a refusal":          {details: "via_upstream", attempts: 1, status: 400, want: unknown, more: cutOff},
		"400":                     {details: "via_upstream", attempts: 1, status: 400, want: refused},
		"429":                     {details: "via_upstream", attempts: 1, status: 429, want: refused},
		"500":                     {details: "via_upstream", attempts: 1, status: 500, want: unknown},
		"503 thrice":              {flags: 32768, details: "via_upstream", attempts: 3, status: 503, want: unknown},
		"closed, then refused":    {flags: 32800, details: started + "{remote_connection_failure|delayed_connect_error:_Connection_refused}", attempts: 2, status: 503, want: unknown},
		"connection refused x 2":  {flags: 32800, details: started + "{remote_connection_failure}", attempts: 2, status: 503, want: never, more: safe},
		"timeout of a safe route": {flags: 4, details: "response_timeout", attempts: 2, status: 504, want: unknown, more: safe},
		"refused and terminated":  {flags: 32 | 64, details: started + "{connection_termination}", attempts: 1, status: 503, want: unknown},
		"attempts not told":       {flags: 32, details: started + "{remote_connection_failure}", attempts: extproc.Unsaid, status: 503, want: unknown},
		"attempts not told, safe": {flags: 32, details: started + "{remote_connection_failure}", attempts: extproc.Unsaid, status: 503, want: unknown, more: safe},
		"our own words in a flag": {flags: 0, details: "rate_limited", attempts: 0, status: 429, want: unknown},
		"an unhappy upstream":     {flags: 32, details: "via_upstream", attempts: 1, status: 503, want: unknown},

		"created":                     {details: "via_upstream", attempts: 1, status: 201, says: dedup.SaysCreated, want: created},
		"created on the second try":   {details: "via_upstream", attempts: 2, status: 201, says: dedup.SaysCreated, want: created},
		"created, nothing else told":  {attempts: extproc.Unsaid, status: 201, says: dedup.SaysCreated, want: created},
		"created with an odd status":  {details: "via_upstream", attempts: 1, status: 409, says: dedup.SaysCreated, want: created},
		"a local reply says created":  {flags: 4, details: "response_timeout", attempts: 1, status: 201, says: dedup.SaysCreated, want: unknown},
		"2xx without an id":           {details: "via_upstream", attempts: 1, status: 200, want: unknown},
		"a failure inside a 201":      {details: "via_upstream", attempts: 1, status: 201, says: dedup.SaysRefused, want: refused},
		"the same, on the second try": {details: "via_upstream", attempts: 2, status: 201, says: dedup.SaysRefused, want: unknown},
		"400 on the second try":       {details: "via_upstream", attempts: 2, status: 400, want: unknown},
		"400 on a safe second try":    {details: "via_upstream", attempts: 2, status: 400, want: refused, more: safe},
		"400, nothing else told":      {attempts: extproc.Unsaid, status: 400, want: unknown},
		"503, nothing else told":      {attempts: extproc.Unsaid, status: 503, want: unknown, more: retryAfter},
		"307":                         {details: "via_upstream", attempts: 1, status: 307, want: refused},
		"401":                         {details: "via_upstream", attempts: 1, status: 401, want: refused},
		"408":                         {details: "via_upstream", attempts: 1, status: 408, want: unknown},
		"423":                         {details: "via_upstream", attempts: 1, status: 423, want: unknown},
		"425":                         {details: "via_upstream", attempts: 1, status: 425, want: unknown},
		"499":                         {details: "via_upstream", attempts: 1, status: 499, want: unknown},
		"503":                         {details: "via_upstream", attempts: 1, status: 503, want: unknown},
		"503 with Retry-After":        {details: "via_upstream", attempts: 1, status: 503, want: refused, more: retryAfter},
		"504 with Retry-After":        {details: "via_upstream", attempts: 1, status: 504, want: unknown, more: retryAfter},
		"409":                         {details: "via_upstream", attempts: 1, status: 409, want: exists},
		"409 that the preset knows":   {details: "via_upstream", attempts: 1, status: 409, says: dedup.SaysRefused, want: refused},
		"exists in a 422":             {details: "via_upstream", attempts: 1, status: 422, says: dedup.SaysExists, want: exists},
		"exists on the second try":    {details: "via_upstream", attempts: 2, status: 409, says: dedup.SaysExists, want: exists},
		"remembered":                  {details: "via_upstream", attempts: 2, status: 200, says: dedup.SaysRemembered, want: remember},
	} {
		t.Run(name, func(t *testing.T) {
			e := extproc.Ending{Details: c.details, Flags: c.flags, Attempts: c.attempts, Status: c.status, Says: c.says, Complete: true}
			if e.Says == "" {
				e.Says = dedup.SaysUnclear
			}
			if c.more != nil {
				c.more(&e)
			}
			if got := e.Outcome(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func cutOff(e *extproc.Ending)     { e.Complete = false }
func safe(e *extproc.Ending)       { e.SafeRetries = true }
func retryAfter(e *extproc.Ending) { e.RetryAfter = true }
