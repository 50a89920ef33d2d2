# Zammad, tickets by its REST API. The language is explained in
# servicenow/incident.hcl.
#
# Where the facts are from: Zammad, "Tickets" of its API documentation (create,
# show, update, search, delete, expand) and "Introduction" (authentication, acting
# for another user); notify_zammad, a client for Icinga. Names and numbers of
# states and priorities are each installation's own; those here are what it comes
# with.

default = true # a backend or preset that is named "zammad" alone

unproven = true # nobody has seen it meet a client and the system

# base: what stands before the API's own path.
match = {
  method = "POST"
  path   = "(?P<base>(/[^/]+)*?)/api/v1/tickets"
}

success = {
  status = [200, 201]
}

ticket = {
  id       = body.id
  location = headers.location
}

# Only an attribute of the ticket object can hold the token, and Zammad has none by
# itself. Where an administrator has added one for it (here oneticket, a text), a
# rule says so and can look tickets up. Unsure: whether a search without an index
# server knows attributes, and how far its index lags.
#
#   token = {
#     field   = "oneticket"
#     pattern = "[0-9A-Za-z:._/@-]+"
#     max     = 255
#   }
#   lookup = {
#     path     = "${base}/api/v1/tickets/search"
#     query    = { query = "oneticket:\"${native}\"", expand = "true", limit = "50", sort_by = "created_at", order_by = "asc" }
#     settle   = "30s"
#     tickets  = body
#     complete = length(coalesce(body, [])) < 50
#     token    = item.oneticket
#     id       = item.id
#     open     = !contains(["closed", "merged", "removed"], item.state)
#     created  = item.created_at
#     answer   = { status = 201, body = item }
#   }
token = {
  header = "Idempotency-Key"
}

memory = { kind = "none" }

# Used where a rule has an identity. Unsure: the texts and numbers, see above.
severity = {
  major = ["3 high", "3"]
  minor = ["2 normal", "2"]
  info  = ["1 low", "1"]
}

fingerprint = {
  severity = severity(coalesce(body.priority, body.priority_id))
  cleared  = contains(["closed", "merged", "removed"], body.state)
}

witness = body.title

# expand: states by their names. "pending close" is open still.
read = {
  path  = "${base}/api/v1/tickets/${ticket.id}"
  query = { expand = "true" }
  when  = body.id != null && body.state != null
  open  = !contains(["closed", "merged", "removed"], body.state)
}

# closed: a closed ticket takes a priority, and stays closed (unsure: a trigger may
# open it).
update = {
  method  = "PUT"
  query   = { expand = "true" }
  body    = { priority = body.priority, priority_id = body.priority_id }
  success = [200]
  when    = body.id != null
  closed  = contains(["closed", "merged", "removed"], body.state)
}

clear = {
  query   = { expand = "true" }
  body    = { state = "closed" }
  success = [200]
  when    = body.id != null
  stays   = body.state != null && !contains(["closed", "merged", "removed"], body.state)
  closes  = true
}

# Used with reopen_within.
reopen = {
  query   = { expand = "true" }
  body    = { state = "open", priority = body.priority, priority_id = body.priority_id }
  success = [200]
  when    = body.id != null
}

# Without expand an answer has the number of the state alone. Unsure: 4 closed, 5
# merged.
resolve = [
  {
    method = ["PUT", "GET"]
    path   = ".*/api/v1/tickets/(?P<id>[0-9]+)"
    when   = answer.body.id != null && (contains(["closed", "merged", "removed"], coalesce(answer.body.state, body.state)) || contains(["4", "5"], answer.body.state_id))
  },
  {
    method = "DELETE"
    path   = ".*/api/v1/tickets/(?P<id>[0-9]+)"
  },
]

# Authorization: Token token= is known by itself. An administrator's token may act
# for any user.
credential = {
  headers = ["x-on-behalf-of", "from"]
}
principal = coalesce(headers.x-on-behalf-of, headers.from) == null ? null : jsonencode([headers.authorization, coalesce(headers.x-on-behalf-of, headers.from)])

# For one ticket a fault, a rule has an identity. Attributes that the client fills
# in are better than its title:
#
#   identity = {
#     group = lower(coalesce(body.group, body.group_id))
#     title = replace(body.title, "/^\\[[A-Z]+\\] */", "")
#   }

# Retry mode, where a rule has no identity.
window = "10m"
