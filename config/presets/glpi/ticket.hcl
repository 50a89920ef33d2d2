# GLPI, tickets and problems by its REST API (apirest.php). The language is
# explained in servicenow/incident.hcl.
#
# Where the facts are from: GLPI, "REST API: Documentation" (apirest.md: paths,
# status codes, Location, sessions, searchText), its source of the API (what it
# answers to changes and failures, what it does with fields that it does not
# know), and Zabbix' media type for GLPI, which makes problems. GLPI 11 has this
# API as v1; its v2 (Assistance/Ticket, OAuth) is another one.

default = true # a backend or preset that is named "glpi" alone

unproven = true # nobody has seen it meet a client and the system

# base: what stands before the item's own path, such as /glpi/apirest.php. The
# names of items are classes of PHP, in which case does not count. Several at once
# (input is a list) pass, and so do uploads, whose fields stand in uploadManifest.
match = {
  method = "POST"
  path   = "(?P<base>(/[^/]+)*?/(apirest[.]php|api([.]php)?)(/v1)?)/(?i:ticket|problem)"
  when   = body.input.name != null
}

success = {
  status = [200, 201]
}

# Tickets and problems are numbered apart, and an answer has but the number: only
# Location says of what, as Ticket/7. An answer without it counts as unclear.
ticket = {
  id       = title(lower(regex("(?i)/((?:ticket|problem)/[0-9]+)/?$", headers.location)[0]))
  location = headers.location
}

# A ticket has a field for the id of another system; what a client has set itself
# stays, and is the token. pattern: in a search "^" and "$" are ends. Unsure: since
# which version; a field that GLPI does not know is left out without a word, and
# a problem has none.
token = {
  header  = "Idempotency-Key"
  field   = "input.externalid"
  pattern = "[0-9A-Za-z:._/@-]+"
  max     = 255
}

memory = { kind = "none" }

# Used where a rule has an identity. priority is computed from urgency and impact
# where it is not given; 6 is its "major". Zabbix sends its own severity as urgency,
# and 0 where it has none: that becomes the default.
severity = {
  critical = ["6", "5"]
  major    = ["4"]
  minor    = ["3", "0"]
  info     = ["2", "1"]
}

# 5 solved, 6 closed, 8 under observation (of problems, where GLPI counts it with
# the solved).
fingerprint = {
  severity = severity(body.input.urgency, body.input.impact, body.input.priority)
  cleared  = contains(["5", "6", "8"], body.input.status)
}

witness = body.input.name

# Calls are made in the session of the client whose request asks for them: one that
# ends its session (killSession) at once leaves them without an answer, and then
# credentials of the backend help.
#
# Items are read from the table, by what they have in a column; the search of
# search/Ticket knows externalid by no number that is the same everywhere. Of a
# problem nothing is asked. What a session may not see, as of another entity, is
# not found: that costs a second ticket. The answer names the place that GLPI has
# by itself, where no other path stands before it.
lookup = {
  path = "${base}/${title(lower(regex("(?i)/(ticket)/?$", path)[0]))}"
  query = {
    "searchText[externalid]" = "^${native}$"
    get_hateoas              = "false"
    range                    = "0-49"
  }
  tickets  = body
  complete = length(coalesce(body, [])) < 50

  token = item.externalid
  id    = "Ticket/${item.id}"
  open  = !contains(["5", "6", "8"], item.status) && coalesce(item.is_deleted, "0") != "1"

  answer = {
    status  = 201
    headers = { location = "${url}/apirest.php/Ticket/${item.id}" }
    body    = { id = item.id, message = "" }
  }
}

# is_deleted: in the dustbin. After a start, until a client has sent something, no
# base is known: then it is the address that GLPI has by itself.
read = {
  path  = base == null ? "/apirest.php/${split("/", ticket.id)[0]}/${split("/", ticket.id)[1]}" : "${base}/${split("/", ticket.id)[0]}/${split("/", ticket.id)[1]}"
  query = { get_hateoas = "false" }
  when  = body.id != null && body.status != null
  open  = !contains(["5", "6", "8"], body.status) && coalesce(body.is_deleted, "0") != "1"
}

# The answer is [{"7": true, "message": ""}], and does not say in which state the
# ticket is. Unsure: whether a closed one takes a change.
update = {
  method  = "PUT"
  body    = { input = { urgency = body.input.urgency, impact = body.input.impact, priority = body.input.priority } }
  success = [200]
  when    = contains(try(values(body[0]), []), "true")
}

# As Zabbix does it. Unsure: a profile or a template of an installation may want
# more, such as a solution, and then GLPI leaves the status alone without a word.
# Where it does, a rule closes by a solution, which solves the ticket (or closes
# it, as its entity says):
#
#   clear = {
#     method  = "POST"
#     path    = "${base}/ITILSolution"
#     body    = { input = { itemtype = split("/", ticket.id)[0], items_id = split("/", ticket.id)[1], content = coalesce(body.input.content, body.input.name) } }
#     success = [201]
#     when    = body.id != null
#   }
clear = {
  body    = { input = { status = "5" } }
  success = [200]
  when    = contains(try(values(body[0]), []), "true")
  closes  = true
}

# Used with reopen_within. 2 is processing. Unsure: whether the profile may set it
# on a ticket that is closed.
reopen = {
  body    = { input = { status = "2", urgency = body.input.urgency, impact = body.input.impact, priority = body.input.priority } }
  success = [200]
  when    = contains(try(values(body[0]), []), "true")
}

# A double, with merge = "close" or "link" in the rule: a solution that names the
# one that stays. Only tickets can be linked; 2 is "duplicates".
merge_close = {
  method  = "POST"
  path    = base == null ? "/apirest.php/ITILSolution" : "${base}/ITILSolution"
  success = [201]
  when    = body.id != null
  body = {
    input = {
      itemtype = split("/", ticket.id)[0]
      items_id = split("/", ticket.id)[1]
      content  = "Duplicate of ${survivor.id}, opened for the same fault."
    }
  }
}

merge_link = {
  method  = "POST"
  path    = base == null ? "/apirest.php/${regex("^(Ticket)/", ticket.id)[0]}_Ticket" : "${base}/${regex("^(Ticket)/", ticket.id)[0]}_Ticket"
  success = [201]
  when    = body.id != null
  body    = { input = { tickets_id_1 = split("/", ticket.id)[1], tickets_id_2 = split("/", survivor.id)[1], link = "2" } }
}

# A change names its item in the path, or one or several in its body, and is
# answered by what became of each. Unsure: a solution that waits for an approval
# may leave the ticket open; that costs a second one.
resolve = [
  {
    method = ["PUT", "PATCH"]
    path   = ".*/(?i:ticket|problem)/[0-9]+"
    id     = title(lower(regex("(?:[^/]+)/[0-9]+", path)))
    when   = contains(["5", "6", "8"], body.input.status) && contains(try(values(answer.body[0]), []), "true")
  },
  {
    method = ["PUT", "PATCH"]
    path   = ".*/(?i:ticket|problem)"
    id     = [for i in flatten([body.input]) : "${title(lower(regex("(?i)(ticket|problem)/?$", path)[0]))}/${i.id}" if contains(["5", "6", "8"], i.status) && contains(flatten([for a in flatten(answer.body) : [for name, done in a : name if done == "true"] if can(keys(a))]), i.id)]
  },
  {
    method = "GET"
    path   = ".*/(?i:ticket|problem)/[0-9]+"
    id     = title(lower(regex("[^/]+/[0-9]+", path)))
    when   = answer.body.id != null && (contains(["5", "6", "8"], answer.body.status) || answer.body.is_deleted == "1")
  },
  {
    method = "DELETE"
    path   = ".*/(?i:ticket|problem)/[0-9]+"
    id     = title(lower(regex("[^/]+/[0-9]+", path)))
  },
  {
    method = "POST"
    path   = ".*/(?i:(ticket|problem)/[0-9]+/itilsolution)"
    id     = title(lower(regex("(?i)/([^/]+/[0-9]+)/itilsolution", path)[0]))
    when   = answer.body.id != null
  },
  {
    method = "POST"
    path   = ".*/(?i:itilsolution)"
    id     = title(lower("${body.input.itemtype}/${body.input.items_id}"))
    when   = answer.body.id != null && contains(["ticket", "problem"], lower(body.input.itemtype))
  },
]

# Headers, or a query. A session's token is another one after each login, and an
# application's is that of many users: neither says who asks, so a stored answer is
# given to another session only after it has read the ticket itself.
credential = {
  headers = ["session-token", "app-token"]
  query   = ["session_token", "app_token"]
}

# For one ticket a fault, a rule has an identity. Where the client does not say
# more, it is read from what Zabbix writes:
#
#   identity = {
#     type = lower(regex("(?i)/(ticket|problem)/?$", path)[0])
#     host = optional(lower(regex("(?m)^Host: *([^\\r\\n<]+)", body.input.content)[0]))
#     name = replace(body.input.name, "/^(\\[[A-Z]+\\]|Problem:) */", "")
#   }

# Retry mode, where a rule has no identity.
window = "10m"
