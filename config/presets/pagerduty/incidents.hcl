# PagerDuty, incidents by the REST API. The language is explained in
# servicenow/incident.hcl.
#
# Where the facts are from: PagerDuty, "REST API v2", incidents (create, list by
# incident_key, update, 429), as its published schema shows it; the words of the
# refusal of a second incident, as clients match them. Alerts by an events key
# are pagerduty/events.

match = {
  method = "POST"
  path   = "/incidents"
}

success = {
  status = [200, 201]
}

ticket = {
  id       = body.incident.id
  location = body.incident.self
}

# One open incident of a service has the key; a second one is refused, and which
# it is has to be asked. A client's own key stays, and is the token. pattern: what
# stands in a query as it is.
token = {
  header  = "Idempotency-Key"
  field   = "incident.incident_key"
  pattern = "[0-9A-Za-z:._/@#= -]+"
  max     = 255
}

memory = { kind = "none" } # it refuses, it does not fold

exists = {
  status = [400, 409]
  match  = "(?i)matching (dedup|incident).key already exists"
}

# Used where a rule has an identity. Priorities are each account's own, so a rule
# that wants them says which is which.
severity = {
  critical = ["high"]
  minor    = ["low"]
}

fingerprint = {
  severity = severity(body.incident.urgency)
}

witness = body.incident.title

# Unsure: whether it is read from the database, and whether without date_range an
# older incident would be left out. Only incidents with the very key count.
lookup = {
  path    = "/incidents"
  headers = { Accept = optional(headers.accept) }
  query   = { incident_key = native, date_range = "all", limit = "100" }

  tickets  = body.incidents
  complete = coalesce(body.more, "false") == "false"

  token    = item.incident_key
  id       = item.id
  location = item.self
  open     = item.status != "resolved"
  created  = item.created_at

  answer = {
    status = 201
    body   = { incident = item }
  }
}

read = {
  path    = "/incidents/${ticket.id}"
  headers = { Accept = optional(headers.accept) }
  when    = body.incident.id != null
  open    = body.incident.status != "resolved"
}

# Every change names the user for whom it is made. closed: an incident that is
# resolved takes no urgency, and stays so.
update = {
  method  = "PUT"
  path    = "/incidents/${ticket.id}"
  headers = { Accept = optional(headers.accept), From = optional(headers.from) }
  success = [200]
  when    = body.incident.id != null
  closed  = body.incident.status == "resolved"
  body    = { incident = { type = "incident_reference", urgency = body.incident.urgency, priority = body.incident.priority } }
}

clear = {
  method  = "PUT"
  headers = { Accept = optional(headers.accept), From = optional(headers.from) }
  success = [200]
  when    = body.incident.id != null
  stays   = body.incident.status != "resolved"
  closes  = true
  body    = { incident = { type = "incident_reference", status = "resolved" } }
}

# Unsure: whether a resolved incident can be opened again; here it never is.

# With merge = "close" in the rule: the double is resolved, and its alerts go to
# the one that stays. A token of an account needs a From among the credentials.
merge_close = {
  method  = "PUT"
  path    = "/incidents/${survivor.id}/merge"
  success = [200]
  when    = body.incident.id != null
  body    = { source_incidents = [{ id = ticket.id, type = "incident_reference" }] }
}

# A request that changes many at once names them in its body; its answer says
# what became of each.
resolve = [
  {
    method = "PUT"
    path   = "/incidents"
    id     = [for i in answer.body.incidents : i.id if i.status == "resolved"]
  },
  {
    method = ["PUT", "GET"]
    path   = "/incidents/(?P<id>[A-Z0-9]+)"
    when   = coalesce(answer.body.incident.status, body.incident.status) == "resolved"
  },
]

# The token of an account acts for whoever From names.
credential = {
  headers = ["from"]
}
principal = headers.from == null ? null : jsonencode([headers.authorization, headers.from])

# Unsure: the words of a refusal of the field alone.
rejects_field = status == 400 && strcontains(text, "incident_key")

# For one incident a fault, a rule has an identity. A key that is another one on
# every try (a random text) is then no token, and ours takes its place:
# token = { volatile = true }.
#
#   identity = {
#     service = body.incident.service.id
#     title   = replace(body.incident.title, "/^\\[[A-Z]+(:[0-9]+)?\\] */", "")
#   }

# Retry mode, where a rule has no identity.
window = "10m"
