# An issue tracker, REST v2.
backend "jira" {
  preset = "jira"
}

rule "jira" {
  backend = "jira"
  preset  = "jira/issue"

  match = {
    method = "POST"
    path   = "/rest/api/2/issue(/bulk)?"
  }
  for_each = body.issueUpdates
  identity = {
    project           = each.value.fields.project.key
    customfield_10071 = each.value.fields.customfield_10071
    customfield_10072 = each.value.fields.customfield_10072
  }
  fingerprint = {
    severity = each.value.fields.priority.name
  }
  ticket = {
    items   = body.issues
    id      = item.key
    failed  = body.errors
    number  = item.failedElementNumber
    wrapper = "{\"issues\":[],\"errors\":[]}"
  }
  lookup = {
    settle = "5s"
  }
  resolve = [{
    method = "POST"
    path   = "/rest/api/2/issue/(?P<id>[A-Z]+-[0-9]+)/transitions"
    when   = body.transition.id == "31"
  }]

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
