# A bridge that makes one ticket for each firing alert of an Alertmanager webhook.
backend "am" {
  preset = "generic/json"
}

rule "am" {
  backend = "am"
  preset  = "generic/json"

  match = {
    method = "POST"
    path   = "/hooks/tickets"
    when   = body.status == "firing"
  }
  for_each = body.alerts
  identity = {
    alertname  = each.value.labels.alertname
    instance   = each.value.labels.instance
    mountpoint = optional(each.value.labels.mountpoint)
  }
  fingerprint = {
    severity = each.value.labels.severity
  }
  ticket = {
    items = body.tickets
    id    = item.id
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
