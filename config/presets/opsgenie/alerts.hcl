# Opsgenie, alerts, and Jira Service Management's alerts under their paths. The
# language is explained in servicenow/incident.hcl.
#
# Where the facts are from: Opsgenie, "Alert API" (alias, 202 and the request's
# id, identifierType, close, priority) and "Rate Limiting"; for Jira Service
# Management, Atlassian's issue JSDCLOUD-14179 (which of its paths take an alias) and
# clients of it. Unsure: what its own API answers to a create.

default = true # a backend or preset that is named "opsgenie" alone

# base: /v2, /jsm/ops/integration/v2, or /jsm/ops/api/CLOUD/v1, which takes a user's
# own credential and knows no alias in a path: there no call is made.
match = {
  method = "POST"
  path   = "(?P<base>(/jsm/ops/integration)?/v2|/jsm/ops/api/[^/]+/v1)/alerts"
}

# Accepted, and made later; what comes of it is told at requests/ID for a while
# (unsure how long), which is the client's to ask.
success = {
  status = [200, 201, 202]
  when   = body.requestId != null
}

# An alert is known by its alias long before it has an id.
ticket = {
  id = coalesce(native, body.requestId)
}

# A client's own alias stays, and is the token. Where there is none Opsgenie takes
# the new alert's id, so that a retry is a second alert: there ours is set.
# volatile = true in a rule: the client's is another one on every try, and ours
# takes its place.
token = {
  header = "Idempotency-Key"
  field  = "alias"
  max    = 512
}

# While an alert with the alias is open, another create only counts. After it is
# closed, it opens another.
memory    = { kind = "folds" }
on_refire = "forward" # the count lives on repeats

# Used where a rule has an identity.
severity = {
  critical = ["P1"]
  major    = ["P2"]
  minor    = ["P3"]
  info     = ["P4", "P5"]
}

fingerprint = {
  severity = severity(body.priority)
}

witness = body.message

# By alias the answer is the open alert (unsure: else the last one). absent: a 404
# that says in Opsgenie's own form that the alert is not there (unsure: in which
# words), and not one of a proxy or of an unknown path. A key without the right to
# read gets 403, which says nothing. A create whose answer was lost is sent again
# instead, which the alias makes safe: what is made of a look-up names no request,
# and clients ask what came of theirs. It is asked where nothing is sent again
# (resend = 0).
lookup = {
  path    = "${base}/alerts/${native}"
  query   = { identifierType = endswith(base, "/v2") ? "alias" : null }
  absent  = status == 404 && body.requestId != null && can(regex("(?i)\\balert\\b.*(does not|doesn't) exist|\\balert\\b.*not found", body.message))
  tickets = [body.data]

  token   = item.alias
  id      = item.alias
  open    = item.status != "closed"
  created = item.createdAt

  answer = {
    status = 202
    body   = { result = "Request will be processed", took = 0, requestId = item.id }
  }
}

# How many open alerts carry one of our keys. Jira Service Management counts in
# other ways. Unsure: whether "*" may stand at the end of an alias.
count = {
  path  = "/v2/alerts/count"
  query = { query = endswith(host, "opsgenie.com") ? "alias: idem* AND status: open" : null }
  total = body.data.count
}

read = {
  path  = "${base}/alerts/${ticket.id}"
  query = { identifierType = endswith(base, "/v2") ? "alias" : null }
  when  = body.data.id != null
  open  = body.data.status != "closed"
}

# A repeated create changes no priority. These are accepted as a create is.
update = {
  method  = "PUT"
  path    = "${base}/alerts/${ticket.id}/priority"
  query   = { identifierType = endswith(base, "/v2") ? "alias" : null }
  body    = { priority = body.priority }
  success = [200, 202]
  when    = body.requestId != null
}

# Used where a rule's fingerprint says cleared: no create of Opsgenie's own does.
clear = {
  method  = "POST"
  path    = "${base}/alerts/${ticket.id}/close"
  query   = { identifierType = endswith(base, "/v2") ? "alias" : null }
  body    = { source = coalesce(body.source, "oneticket") }
  success = [200, 202]
  when    = body.requestId != null
  closes  = true
}

# A close by alias, which is what integrations send. One by id or tiny id names an
# alert that is not known by it here; then verify_every finds out.
resolve = [
  {
    method = "POST"
    path   = "(/jsm/ops/integration)?/v2/alerts/(?P<id>.+)/close"
    when   = query.identifierType == "alias"
  },
  {
    method = "DELETE"
    path   = "(/jsm/ops/integration)?/v2/alerts/(?P<id>[^/]+)"
    when   = query.identifierType == "alias"
  },
  {
    method = "GET"
    path   = "(/jsm/ops/integration)?/v2/alerts/(?P<id>[^/]+)"
    when   = query.identifierType == "alias" && answer.body.data.status == "closed"
  },
]

# Authorization: GenieKey is known by itself. What query names is repeated by our
# calls, as headers are.
credential = {
  query = ["apiKey"]
}

# For one alert a fault where clients set no alias:
#
#   identity = {
#     fault = try(body.alias, jsonencode([body.entity, body.source, replace(body.message, "/^\\[[A-Z]+(:[0-9]+)?\\] */", "")]))
#   }
#   scope = host # an alias names one fault by itself

# Without an identity, an alert without an alias folds into the one of the very same
# request for as long as that is open, not for the window alone.

# Retry mode, where a rule has no identity.
window = "10m"
