# ServiceNow, incidents by the Table API.
#
# A preset is written as a rule is: what stands here holds for each rule that
# names the preset and does not say otherwise. Objects are laid over each other
# member by member, so a rule's match = { when = ... } keeps the path below.
#
# Where the facts are from: ServiceNow, "Table API" of the REST API reference
# (paths, status codes, X-no-response-body); "Idempotent requests" are not part
# of it, so a token means nothing to the backend itself. Fields and choices are
# those of the base incident table; an installation may have changed them.

default = true # a backend or preset that is named "servicenow" alone

# method: in capitals, one or a list. path: a regular expression over the whole
# decoded path; a slash at its end is optional. query and headers: name = regular
# expression over the whole value, an absent one counts as empty. when: over the
# body, headers and query; where it is not true, the request is no create.
match = {
  method = "POST"
  path   = "/api/now(/v[0-9]+)?/table/incident"
}

# A hibernating or logged-out instance answers 200 with a page of HTML: an
# answer is a success only with a ticket in it.
success = {
  status = [200, 201]
}

# With X-no-response-body, or sysparm_fields that leave sys_id out, only the
# Location tells. sysparm_display_value=all makes each field an object.
ticket = {
  id       = coalesce(body.result.sys_id.value, body.result.sys_id, basename(headers.location))
  location = headers.location
}

# correlation_id is there for the id of the record in another system. What a
# client has set itself stays, and is the token. It holds 100 characters. pattern:
# what can be asked for in an encoded query, where "^" begins the next condition
# and a value that begins with "javascript:" is run. Another token stays where
# the client has put it, and cannot be looked up.
token = {
  header  = "Idempotency-Key"
  field   = "correlation_id"
  pattern = "[0-9A-IK-Za-ik-z][0-9A-Za-z:._/@# -]*|[Jj][0-9A-Za-z._/@# -]*"
  max     = 100
}

memory = { kind = "none" }

# Used where a rule has an identity. priority is computed by the instance from
# urgency and impact, so the worse of these two is the severity. The texts are
# the values and the display values of the base choices.
severity = {
  critical = ["1", "1 - High", "High"]
  major    = ["2", "2 - Medium", "Medium"]
  minor    = ["3", "3 - Low", "Low"]
}

# 6 resolved, 7 closed, 8 canceled.
fingerprint = {
  severity = severity(body.urgency, body.impact)
  cleared  = contains(["6", "7", "8", "Resolved", "Closed", "Canceled"], coalesce(body.incident_state, body.state))
}

witness = body.short_description

# Outside calls. They are made with the credentials of the caller whose request
# asks for them. What stands in ${...} of a path is percent-encoded; a body is
# copied as it is, and what is missing in it is left out.
#
# The records are read from the table itself, not from a search index, so what
# is not found is not there. An instance that does not know a field ignores the
# condition and returns every record: only those with the very token count, and
# a page that is full proves nothing. display_value is as the client's own
# request has it where that is "all", so that the answer has the form it knows.
lookup = {
  path = "/api/now/table/incident"
  query = {
    sysparm_query                  = "correlation_id=${native}^ORDERBYsys_created_on"
    sysparm_limit                  = "20"
    sysparm_display_value          = query.sysparm_display_value == "all" ? "all" : "false"
    sysparm_exclude_reference_link = optional(query.sysparm_exclude_reference_link)
  }
  tickets  = body.result
  complete = headers["x-total-count"] == null ? length(coalesce(body.result, [])) < 20 : headers["x-total-count"] <= length(coalesce(body.result, []))

  token   = coalesce(item.correlation_id.value, item.correlation_id)
  id      = coalesce(item.sys_id.value, item.sys_id)
  open    = !contains(["6", "7", "8"], coalesce(item.state.value, item.state)) && coalesce(item.active.value, item.active, "true") != "false"
  created = coalesce(item.sys_created_on.value, item.sys_created_on) # in UTC

  answer = {
    status  = 201
    headers = { location = "${url}/api/now/table/incident/${coalesce(item.sys_id.value, item.sys_id)}" }
    body    = { result = item }
  }
}

# A hibernating instance answers with a page of HTML, which says nothing. An
# installation with states of its own (some resolve with 15) overrides open.
read = {
  path  = "/api/now/table/incident/${ticket.id}"
  query = { sysparm_fields = "sys_id,number,state,active", sysparm_display_value = "false" }
  when  = body.result.sys_id != null
  open  = !contains(["6", "7", "8"], body.result.state) && coalesce(body.result.active, "true") != "false"
}

# How many open incidents carry one of our keys, for comparison with the keys
# that are live. It is asked with the credentials of the backend block, if there
# are any.
count = {
  path = "/api/now/stats/incident"
  query = {
    sysparm_count = "true"
    sysparm_query = "correlation_idSTARTSWITHidem:^stateNOT IN6,7,8^active=true"
  }
  total = body.result.stats.count
}

# closed: an instance takes a severity for a resolved incident too; nobody would
# see it there.
update = {
  method  = "PATCH"
  path    = "/api/now/table/incident/${ticket.id}"
  query   = { sysparm_fields = "sys_id,state", sysparm_display_value = "false" }
  body    = { urgency = body.urgency, impact = body.impact }
  success = [200, 204]
  when    = status == 204 || body.result != null
  closed  = contains(["6", "7", "8"], body.result.state)
}

# Unsure: most instances want a close code and notes with state 6, and the codes
# differ from release to release. A refusal leaves the ticket open.
clear = {
  method  = "PATCH"
  query   = { sysparm_fields = "sys_id,state", sysparm_display_value = "false" }
  success = [200, 204]
  when    = status == 204 || body.result != null
  stays   = !contains(["6", "7", "8"], body.result.state)
  closes  = true
  body = {
    state       = "6"
    close_code  = coalesce(body.close_code, "Resolved by caller")
    close_notes = coalesce(body.close_notes, body.short_description, "Resolved by monitoring")
  }
}

# Used with reopen_within. 2 is in progress. Unsure: whether the state alone is
# enough, or the close code has to be emptied too.
reopen = {
  method  = "PATCH"
  query   = { sysparm_fields = "sys_id,state", sysparm_display_value = "false" }
  body    = { state = "2", urgency = body.urgency, impact = body.impact }
  success = [200, 204]
  when    = status == 204 || body.result != null
}

# A double, with merge = "close" or "link" in the rule. ticket is the double,
# survivor the one that stays; they are made with the backend's own credentials,
# and no request of a client is there to be read. Unsure: the close code, as above.
merge_close = {
  method  = "PATCH"
  path    = "/api/now/table/incident/${ticket.id}"
  query   = { sysparm_fields = "sys_id,state", sysparm_display_value = "false" }
  success = [200, 204]
  when    = status == 204 || body.result != null
  refused = body.result.state != null && !contains(["6", "7", "8"], body.result.state)
  body = {
    state           = "6"
    close_code      = "Duplicate"
    close_notes     = "Duplicate of the incident ${survivor.id}, opened for the same fault."
    parent_incident = survivor.id
  }
}

merge_link = {
  method  = "PATCH"
  path    = "/api/now/table/incident/${ticket.id}"
  query   = { sysparm_fields = "sys_id,state", sysparm_display_value = "false" }
  body    = { parent_incident = survivor.id, work_notes = "Duplicate of the incident ${survivor.id}, opened for the same fault." }
  success = [200, 204]
  when    = status == 204 || body.result != null
}

# Requests of clients that close a ticket, and their reads by which we see that
# somebody else has. Many never set a state: Zabbix only writes a new title.
# Then verify_every finds out.
resolve = [
  {
    method = ["PATCH", "PUT", "GET"]
    path   = "/api/now(/v[0-9]+)?/table/incident/(?P<id>[0-9a-f]{32})"
    when   = contains(["6", "7", "8", "Resolved", "Closed", "Canceled"], coalesce(answer.body.result.state.value, answer.body.result.state, body.incident_state, body.state))
  },
  {
    method = "DELETE"
    path   = "/api/now(/v[0-9]+)?/table/incident/(?P<id>[0-9a-f]{32})"
  },
]

# Basic and OAuth are known by themselves. A session's cookie and X-UserToken
# are parts of the credential, never of the principal.
credential = {
  headers = ["x-sn-apikey", "x-usertoken"]
}
principal = headers["x-sn-apikey"]

# Unsure: the words with which an access rule or a data policy names the field.
rejects_field = contains(["400", "403"], status) && strcontains(text, "correlation_id")

# For one ticket a fault, a rule has an identity, as the client's requests tell
# which element and which fault it is:
#
#   identity = {
#     element_id  = lower(body.cmdb_ci)
#     fault_class = body.category
#   }

# Retry mode, where a rule has no identity.
window = "10m"
