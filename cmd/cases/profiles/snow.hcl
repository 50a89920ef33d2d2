# The Table API of an ITSM without native idempotency.
backend "snow" {
  preset = "servicenow"
}

rule "snow" {
  backend = "snow"
  preset  = "servicenow/incident"

  match = {
    method = "POST"
    path   = "/api/now(/v[0-9]+)?/table/incident"
  }
  identity = {
    cmdb_ci = body.cmdb_ci
    u_check = body.u_check
  }
  fingerprint = {
    severity = severity(body.impact)
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
