# Request Tracker, tickets by REST 1.0: python-rt, RT's own command line and
# scripts. The language is explained in servicenow/incident.hcl.
#
# Where the facts are from: Best Practical, RT's source of REST 1.0 (which form
# makes a ticket, what its answers say; search, show, edit) and "REST" of the RT
# wiki. Statuses and priorities are each installation's own; those here are of the
# default lifecycle.

default = true # a backend or preset that is named "rt" alone

# A login and a show are POSTs too. The field content holds lines "Name: value",
# which are read as an object; its custom fields are body.content.CF.NAME.
match = {
  method = "POST"
  path   = "(?P<base>(/[^/]+)*?)/REST/1[.]0/(ticket/new|edit)"
  when   = body.content != null && (body.content.id == "ticket/new" || endswith(trimsuffix(path, "/"), "/ticket/new"))
}

# Every answer is a 200; its first line and its comments say what it is.
success = {
  status = [200]
}

ticket = {
  id = regex("# Ticket ([0-9]+) created", text)[0]
}

refused = !can(regex("# Ticket [0-9]+ created", text)) && can(regex("^RT/\\S+ 4[0-9][0-9] |# Could not create ticket|# You are not allowed", text))

# Only a custom field can hold the token, and RT has none by itself. Where there
# is one for it (here OneTicket, a text with one value), a rule says so and can
# look tickets up:
#
#   token = {
#     field   = "content.CF.OneTicket"
#     pattern = "[0-9A-Za-z:._/@-]+"
#     max     = 255
#   }
#   lookup = {
#     path    = "${base}/REST/1.0/search/ticket"
#     headers = { Accept = "*/*" }
#     query   = { query = "'CF.{OneTicket}' = '${native}'", fields = "id,Status,CF.{OneTicket}", orderby = "+id", user = optional(body.user), pass = optional(body.pass) }
#     when    = can(regex("^RT/\\S+ 200 ", text))
#     tickets = [for t in regexall("(?:^|\n)id: ticket/(?P<id>[0-9]+)\n(?:[A-Za-z].*\n)*?Status: (?P<status>\\S+)\n(?:[A-Za-z].*\n)*?CF[.]{OneTicket}: (?P<token>\\S+)", text) : t]
#     token   = item.token
#     id      = item.id
#     open    = !contains(["resolved", "rejected", "deleted"], item.status)
#     answer  = { status = 200, body = "RT/1.0 200 Ok\n\n# Ticket ${item.id} created.\n\n" }
#   }
#   rejects_field = strcontains(text, "Invalid custom field name")
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
  severity = severity(coalesce(body.content.Priority, body.content.priority))
  cleared  = contains(["resolved", "rejected", "deleted"], coalesce(body.content.Status, body.content.status))
}

witness = coalesce(body.content.Subject, body.content.subject)

# A ticket that does not exist is no open one. One that the caller may not see, and
# a page to log in, say nothing.
read = {
  path    = "${base}/REST/1.0/ticket/${ticket.id}/show"
  headers = { Accept = "*/*" }
  query   = { user = optional(body.user), pass = optional(body.pass) }
  when    = can(regex("(?m)^Status: |^# Ticket [0-9]+ does not exist", text))
  open    = !can(regex("(?m)^Status: (resolved|rejected|deleted)\\s*$|^# Ticket [0-9]+ does not exist", text))
}

# An edit is answered with "# Ticket 5 updated.", also when the value was there
# already.
update = {
  method       = "POST"
  path         = "${base}/REST/1.0/ticket/${ticket.id}/edit"
  headers      = { Accept = "*/*" }
  content_type = "application/x-www-form-urlencoded"
  body = {
    user    = can(regex("^[0-9A-Za-z]+$", coalesce(body.content.Priority, body.content.priority))) ? body.user : null # alone they are no update
    pass    = can(regex("^[0-9A-Za-z]+$", coalesce(body.content.Priority, body.content.priority))) ? body.pass : null
    content = "Priority: ${regex("^[0-9A-Za-z]+$", coalesce(body.content.Priority, body.content.priority))}\n"
  }
  success = [200]
  when    = can(regex("# Ticket [0-9]+ updated", text))
  refused = can(regex("^RT/\\S+ 4[0-9][0-9] |# You are not allowed|does not exist", text))
}

clear = {
  headers      = { Accept = "*/*" }
  content_type = "application/x-www-form-urlencoded"
  body         = { user = optional(body.user), pass = optional(body.pass), content = "Status: resolved\n" }
  success      = [200]
  when         = can(regex("# Ticket [0-9]+ updated", text))
  refused      = can(regex("^RT/\\S+ 4[0-9][0-9] |# You are not allowed|does not exist", text))
  closes       = true
}

# Used with reopen_within.
reopen = {
  headers      = { Accept = "*/*" }
  content_type = "application/x-www-form-urlencoded"
  body         = { user = optional(body.user), pass = optional(body.pass), content = "Status: open\n" }
  success      = [200]
  when         = can(regex("# Ticket [0-9]+ updated", text))
  refused      = can(regex("^RT/\\S+ 4[0-9][0-9] |# You are not allowed|does not exist", text))
}

# RT's command line edits at /REST/1.0/edit and names the ticket in the form.
resolve = [
  {
    method = "POST"
    path   = ".*/REST/1[.]0/edit"
    id     = regex("ticket/([0-9]+)", body.content.id)[0]
    when   = contains(["resolved", "rejected", "deleted"], coalesce(body.content.Status, body.content.status)) && can(regex("# Ticket [0-9]+ updated", answer.text))
  },
  {
    method = "POST"
    path   = ".*/REST/1[.]0/ticket/(?P<id>[0-9]+)(/edit)?"
    when   = contains(["resolved", "rejected", "deleted"], coalesce(body.content.Status, body.content.status)) && can(regex("# Ticket [0-9]+ updated", answer.text))
  },
  {
    method = "GET"
    path   = ".*/REST/1[.]0/ticket/(?P<id>[0-9]+)(/show)?"
    when   = can(regex("(?m)^Status: (resolved|rejected|deleted)\\s*$", answer.text))
  },
]

# A session's cookie is part of the credential, never of the principal. The name
# and password also come in the body or the query: what query names is repeated by
# our calls, as headers are; from the body each call takes them itself.
credential = {
  query = ["user", "pass"]
  body  = ["user", "pass"]
}
principal = coalesce(body.user, query.user)

# For one ticket a fault, a rule has an identity. Custom fields that the client
# fills in are better than its title:
#
#   identity = {
#     queue   = lower(coalesce(body.content.Queue, body.content.queue))
#     subject = replace(coalesce(body.content.Subject, body.content.subject), "/^(?i)problem: */", "")
#   }

# Retry mode, where a rule has no identity. The command line fills in the time as
# Starts, so that it needs one.
window = "10m"
