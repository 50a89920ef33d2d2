# An event intake: create and resolve share one route.
backend "pd" {
  preset = "generic/json"
}

rule "pd" {
  backend = "pd"
  preset  = "generic/json"

  match = {
    method = "POST"
    path   = "/v2/enqueue"
    when   = body.event_action == "trigger"
  }
  identity = {
    routing_key = body.routing_key
    source      = body.payload.source
    component   = body.payload.component
    class       = body.payload.class
  }
  fingerprint = {
    severity = body.payload.severity
  }
  ticket = {
    id = body.dedup_key
  }

  ttl          = "24h"
  max_age      = "0"
  verify_every = "0"
  settle       = "5s"
  heal_within  = "0"
  resend       = 0
}

in_flight {
  wait = "5s"
}
