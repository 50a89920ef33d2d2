# Zendesk Support, tickets by the REST API. The language is explained in
# servicenow/incident.hcl.
#
# Where the facts are from: Zendesk, "Ticketing API" (paths, answers, external_id,
# closed tickets) and its introduction, "Idempotency" (the header, two hours, the
# answer's x-idempotency-lookup, 400 for another body), as clients of it show
# them.

default = true # a backend or preset that is named "zendesk" alone

match = {
  method = "POST"
  path   = "/api/v2/tickets([.]json)?"
}

success = {
  status = [200, 201]
}

ticket = {
  id       = body.ticket.id
  location = headers.location
}

# The header is what Zendesk remembers; by external_id a ticket is found again
# later. That field is the client's for things of its own (Zabbix: the event), and
# need not be unique, so what stands there stays and is not the token; such a
# ticket cannot be looked up, only asked for again by the header. pattern: no
# name of another parameter, and nothing that has to be encoded twice.
token = {
  header  = "Idempotency-Key"
  field   = "ticket.external_id"
  pattern = "[0-9A-Za-z:._/@-]+"
  max     = 255
  shared  = true
}

# A key is answered with the first ticket for two hours, also when that was
# solved meanwhile, and only with the same body: the first attempt's bytes.
memory = {
  kind = "remembers"
  for  = "2h"
}

remembered = headers["x-idempotency-lookup"] == "hit"

# Unsure: the words of the refusal of another body; 409 of two at one time.
exists = {
  status = [400, 409]
  match  = "(?i)idempoten|parameters don.t match"
}

# Used where a rule has an identity.
severity = {
  critical = ["urgent"]
  major    = ["high"]
  minor    = ["normal"]
  info     = ["low"]
}

fingerprint = {
  severity = severity(body.ticket.priority)
  cleared  = contains(["solved", "closed"], body.ticket.status)
}

witness = body.ticket.subject

# The list is read from the database; the search, which lags, is not used. A
# parameter that is not known is ignored, and all tickets come.
lookup = {
  path  = "/api/v2/tickets.json"
  query = { external_id = native }

  tickets  = body.tickets
  complete = body.next_page == null && coalesce(body.meta.has_more, "false") == "false"

  token   = item.external_id
  id      = item.id
  open    = !contains(["solved", "closed"], item.status)
  created = item.created_at

  # A client may know the answer to a create by its audit (zenpy does); the
  # audit's own id is not in the list.
  answer = {
    status  = 201
    headers = { location = "${url}/api/v2/tickets/${item.id}.json" }
    body    = { ticket = item, audit = { ticket_id = item.id, author_id = item.submitter_id, created_at = item.created_at, events = [] } }
  }
}

read = {
  path = "/api/v2/tickets/${ticket.id}.json"
  when = body.ticket.id != null
  open = !contains(["solved", "closed"], body.ticket.status)
}

# How many unsolved tickets carry one of our keys. Unsure: whether the search
# takes a "*" at the end of an external_id. The index lags by minutes.
count = {
  path  = "/api/v2/search/count.json"
  query = { query = "type:ticket external_id:idem* status<solved" }
  total = body.count
}

# Idempotency-Key is not for updates. A closed ticket refuses every one; a
# solved one takes it.
update = {
  method  = "PUT"
  path    = "/api/v2/tickets/${ticket.id}.json"
  body    = { ticket = { priority = body.ticket.priority } }
  success = [200]
  when    = body.ticket.id != null
  closed  = contains(["solved", "closed"], body.ticket.status)
}

clear = {
  method  = "PUT"
  body    = { ticket = { status = "solved" } }
  success = [200]
  when    = body.ticket.id != null
  stays   = !contains(["solved", "closed"], body.ticket.status)
  closes  = true
}

# Used with reopen_within. A solved ticket opens again; a closed one never does,
# and refuses.
reopen = {
  method  = "PUT"
  body    = { ticket = { status = "open", priority = body.ticket.priority } }
  success = [200]
  when    = body.ticket.id != null
}

# A merge closes the double for good, and takes its comments over. It is done by
# a job, of which the answer names only the number.
merge_close = {
  path    = "/api/v2/tickets/${survivor.id}/merge.json"
  success = [200]
  when    = body.job_status.id != null
  refused = contains(["failed", "killed"], body.job_status.status)
  body = {
    ids            = [tonumber(ticket.id)]
    source_comment = "Closed in favor of #${survivor.id}: it was opened twice for the same fault."
    target_comment = "#${ticket.id} was opened for the same fault and is merged into this one."
  }
}

merge_link = {
  method  = "PUT"
  path    = "/api/v2/tickets/${ticket.id}.json"
  body    = { ticket = { comment = { body = "Duplicate of #${survivor.id}: it was opened twice for the same fault.", public = false } } }
  success = [200]
  when    = body.ticket.id != null
}

# Many clients never set a status: Zabbix writes a comment. Then verify_every
# finds out.
resolve = [
  {
    method = ["PUT", "GET"]
    path   = "/api/v2/tickets/(?P<id>[0-9]+)([.]json)?"
    when   = contains(["solved", "closed"], coalesce(answer.body.ticket.status, body.ticket.status))
  },
  {
    method = "DELETE"
    path   = "/api/v2/tickets/(?P<id>[0-9]+)([.]json)?"
  },
]

# Unsure: the words of a refusal of the field.
rejects_field = contains(["400", "422"], status) && body.details.external_id != null

# For one ticket a fault, a rule has an identity, mostly of custom fields:
#
#   identity = {
#     item  = pick(body.ticket.custom_fields, "id", "3601").value
#     fault = pick(body.ticket.custom_fields, "id", "3602").value
#   }

# Retry mode, where a rule has no identity.
window = "10m"
