# A classic form handler.
backend "form" {
  preset = "generic/json"
}

rule "form" {
  backend = "form"
  preset  = "generic/json"

  match = {
    method = "POST"
    path   = "/tickets/new"
  }
  identity = {
    host  = body.host
    check = body.check
  }
  fingerprint = {
    severity = body.severity
  }
  ticket = {
    id = regex("# Ticket ([0-9]+) ", text)[0]
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
