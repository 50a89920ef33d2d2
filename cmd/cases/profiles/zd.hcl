# A help desk with native idempotency.
backend "zd" {
  preset = "zendesk"
}

rule "zd" {
  backend = "zd"
  preset  = "zendesk/ticket"

  match = {
    method = "POST"
    path   = "/api/v2/tickets([.]json)?"
  }
  identity = {
    item  = pick(body.ticket.custom_fields, "id", "3601").value
    fault = pick(body.ticket.custom_fields, "id", "3602").value
  }
  fingerprint = {
    severity = body.ticket.priority
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
