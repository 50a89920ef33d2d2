# An API where the client chooses the id.
backend "put" {
  preset = "generic/json"
}

rule "put" {
  backend = "put"
  preset  = "generic/json"

  match = {
    method = "PUT"
    path   = "/v1/incidents/[^/]+"
  }
  identity = {
    ref = path
  }
  fingerprint = {
    severity = body.severity
  }
  ticket = {
    id = body.ref
  }
  on_update = "forward"

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
