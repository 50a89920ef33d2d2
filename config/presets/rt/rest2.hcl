# Request Tracker, tickets by REST 2.0. The language is explained in
# servicenow/incident.hcl.
#
# Where the facts are from: Best Practical, "RT::REST2" (paths, answers, tokens,
# TicketSQL in query), its source of creates, and clients. Statuses and priorities are each
# installation's own; those here are of the default lifecycle.

match = {
  method = "POST"
  path   = "(?P<base>(/[^/]+)*?)/REST/2[.]0/ticket"
}

success = {
  status = [200, 201]
}

ticket = {
  id       = coalesce(body.id, regex("/ticket/([0-9]+)", headers.location)[0])
  location = headers.location
}

# Only a custom field can hold the token, and RT has none by itself. Where there
# is one for it (here OneTicket, a text with one value), and the client sends
# CustomFields, a rule says so and can look tickets up:
#
#   token = {
#     field   = "CustomFields.OneTicket"
#     pattern = "[0-9A-Za-z:._/@-]+"
#     max     = 255
#   }
#   lookup = {
#     path     = "${base}/REST/2.0/tickets"
#     query    = { query = "'CF.{OneTicket}' = '${native}'", fields = "Status,Created,CustomFields", per_page = "20", orderby = "id" }
#     tickets  = body.items
#     complete = body.total <= length(coalesce(body.items, []))
#     token    = pick(item.CustomFields, "name", "OneTicket").values
#     id       = item.id
#     location = item._url
#     open     = !contains(["resolved", "rejected", "deleted"], item.Status)
#     created  = item.Created
#     answer   = { status = 201, headers = { location = item._url }, body = { id = item.id, type = "ticket", _url = item._url } }
#   }
token = {
  header = "Idempotency-Key"
}

memory = { kind = "none" }

# Used where a rule has an identity. Unsure: the texts and numbers, see above.
severity = {
  major = ["High", "100"]
  minor = ["Medium", "50"]
  info  = ["Low", "0"]
}

fingerprint = {
  severity = severity(body.Priority)
  cleared  = contains(["resolved", "rejected", "deleted"], body.Status)
}

witness = body.Subject

read = {
  path = "${base}/REST/2.0/ticket/${ticket.id}"
  when = body.id != null && body.Status != null
  open = !contains(["resolved", "rejected", "deleted"], body.Status)
}

# The answer is a list of texts, one for each change; a right that is missing is
# one of them, under the status of a success (unsure in which words).
update = {
  method  = "PUT"
  path    = "${base}/REST/2.0/ticket/${ticket.id}"
  body    = { Priority = body.Priority }
  success = [200]
  when    = can(regex("^\\s*\\[", text))
  refused = can(regex("(?i)permission denied|not allowed|no permission", text))
}

clear = {
  method  = "PUT"
  body    = { Status = "resolved" }
  success = [200]
  when    = can(regex("^\\s*\\[", text))
  refused = can(regex("(?i)permission denied|not allowed|no permission|can.t", text))
  closes  = true
}

# Used with reopen_within.
reopen = {
  method  = "PUT"
  body    = { Status = "open", Priority = body.Priority }
  success = [200]
  when    = can(regex("^\\s*\\[", text))
  refused = can(regex("(?i)permission denied|not allowed|no permission|can.t", text))
}

resolve = [
  {
    method = "PUT"
    path   = ".*/REST/2[.]0/ticket/(?P<id>[0-9]+)"
    when   = contains(["resolved", "rejected", "deleted"], body.Status) && !can(regex("(?i)permission denied|not allowed|no permission|can.t", answer.text))
  },
  {
    method = "GET"
    path   = ".*/REST/2[.]0/ticket/(?P<id>[0-9]+)"
    when   = contains(["resolved", "rejected", "deleted"], answer.body.Status)
  },
  {
    method = "DELETE"
    path   = ".*/REST/2[.]0/ticket/(?P<id>[0-9]+)"
  },
]

# Authorization: token is known by itself; a session's cookie is part of the
# credential, never of the principal.

# For one ticket a fault, a rule has an identity. Custom fields that the client
# fills in are better than its title:
#
#   identity = {
#     queue   = lower(body.Queue)
#     subject = replace(body.Subject, "/^(?i)problem: */", "")
#   }

# Retry mode, where a rule has no identity.
window = "10m"
