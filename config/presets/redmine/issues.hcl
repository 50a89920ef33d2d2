# Redmine, issues by the REST API, JSON and XML. The language is explained in
# servicenow/incident.hcl.
#
# Where the facts are from: Redmine, "REST API" and "Rest Issues" (paths, both
# formats, 201 with Location, 204 of an edit, 422, API keys), and its source for
# what a closed status is. Numbers of priorities and statuses are each
# installation's own; those here are what its default data makes.

default = true # a backend or preset that is named "redmine" alone

# base: what stands before the API's own path, such as /redmine.
match = {
  method = "POST"
  path   = "(?P<base>(/[^/]+)*?)(/projects/[^/]+)?/issues[.](json|xml)"
  when   = body.issue != null
}

success = {
  status = [200, 201]
}

# In XML the root element is the issue, as in JSON its member is.
ticket = {
  id       = coalesce(body.issue.id, regex("/issues/([0-9]+)", headers.location)[0])
  location = headers.location
}

# Redmine has no field for an id of another system but custom fields, whose
# numbers are each installation's own: without one nothing is written into the
# issue, and nothing can be looked up. After a lost answer a retry waits for
# settle, and is then sent on and counted. Where there is a custom field for it
# (here number 7, a text, which issues can be filtered by), a rule says so. It is
# asked in JSON, and answers are in JSON, so such a rule is for JSON alone:
#
#   match = { path = "(?P<base>(/[^/]+)*?)(/projects/[^/]+)?/issues[.]json" }
#   token = {
#     field   = "issue.custom_fields"
#     form    = "item"
#     item    = { id = "7" }
#     element = "custom_field"
#     pattern = "[0-9A-Za-z:._/@-]+"
#     max     = 255
#   }
#   lookup = {
#     path     = "${base}/issues.json"
#     query    = { cf_7 = native, status_id = "*", sort = "created_on", limit = "100" }
#     tickets  = body.issues
#     complete = body.total_count <= length(coalesce(body.issues, []))
#     token    = pick(item.custom_fields, "id", "7").value
#     id       = item.id
#     open     = item.status.is_closed == null ? item.closed_on == null : item.status.is_closed == "false"
#     created  = item.created_on
#     answer   = { status = 201, headers = { location = "${url}/issues/${item.id}" }, body = { issue = item } }
#   }
token = {
  header = "Idempotency-Key"
}

memory = { kind = "none" }

# Used where a rule has an identity. Unsure: the numbers, see above.
severity = {
  critical = ["5", "4"]
  major    = ["3"]
  minor    = ["2"]
  info     = ["1"]
}

fingerprint = {
  severity = severity(body.issue.priority_id)
}

witness = body.issue.subject

# Older versions do not say whether a status is a closed one (unsure: from which
# on); closed_on stays when an issue is opened again, so that it then rather
# counts as closed: a second ticket, and no lost one.
read = {
  path = "${base}/issues/${ticket.id}.json"
  when = body.issue.id != null
  open = body.issue.status.is_closed == null ? body.issue.closed_on == null : body.issue.status.is_closed == "false"
}

update = {
  method  = "PUT"
  path    = "${base}/issues/${ticket.id}.json"
  body    = { issue = { priority_id = body.issue.priority_id } }
  success = [200, 204]
}

# Which status closes an issue, and which of them a role may set, is each
# installation's own; a rule that closes by itself says so:
#
#   fingerprint = { cleared = body.issue.status_id == "5" }
#   clear       = { body = { issue = { status_id = "5" } }, success = [200, 204], closes = true }
#   reopen      = { body = { issue = { status_id = "1" } }, success = [200, 204] }

# Unsure: 5 closed and 6 rejected, see above. A wrong one costs a second ticket.
# With merge = "link" in the rule. Statuses have other numbers in every
# installation, so what closes a double is said in the rule.
merge_link = {
  path    = "${base}/issues/${ticket.id}/relations.json"
  body    = { relation = { issue_to_id = survivor.id, relation_type = "duplicates" } }
  success = [200, 201]
  when    = body.relation.id != null
}

resolve = [
  {
    method = "PUT"
    path   = ".*/issues/(?P<id>[0-9]+)[.](json|xml)"
    when   = contains(["5", "6"], body.issue.status_id)
  },
  {
    method = "GET"
    path   = ".*/issues/(?P<id>[0-9]+)[.](json|xml)"
    when   = answer.body.issue.status.is_closed == "true"
  },
  {
    method = "DELETE"
    path   = ".*/issues/(?P<id>[0-9]+)[.](json|xml)"
  },
]

# X-Redmine-API-Key is known by itself. What query names is repeated by our calls,
# as headers are. An administrator's key may act for any user.
credential = {
  headers = ["x-redmine-switch-user"]
  query   = ["key"]
}
principal = coalesce(headers.x-redmine-api-key, query.key, headers.x-redmine-switch-user) == null ? null : jsonencode([coalesce(headers.x-redmine-api-key, query.key, headers.authorization), headers.x-redmine-switch-user])

# For one ticket a fault, a rule has an identity. A project is named by its number
# or by its name, in the path or in the issue, and the same client does so in one
# way:
#
#   identity = {
#     project = try(body.issue.project_id, regex("/projects/([^/]+)/issues", path)[0])
#     host    = optional(regex("(?m)^Host: *([^\\r\\n]+)", body.issue.description)[0])
#     subject = replace(body.issue.subject, "/^(?i)problem: */", "")
#   }

# Retry mode, where a rule has no identity.
window = "10m"
