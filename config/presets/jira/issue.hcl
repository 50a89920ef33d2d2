# Jira, issues by the REST API: Cloud, and Data Center also below a
# context path (/jira). The language is explained in servicenow/incident.hcl.
#
# Where the facts are from: Atlassian, "The Jira Cloud platform REST API" and
# "Jira Data Center REST API" (paths, answers, 204 of an edit, search), and
# "Rate limiting". Neither has idempotent requests: a token means nothing to
# Jira. Names of priorities are each site's own; those here are of the schemes
# that come with it.

default = true # a backend or preset that is named "jira" alone

# base: what stands before the API's own path. /issue/bulk makes several: each is
# read as each.value, which is the whole body of a request that makes one.
match = {
  method = "POST"
  path   = "(?P<base>(/[^/]+)*?)/rest/api/(2|3|latest)/issue(/bulk)?"
}

for_each = body.issueUpdates

# A login page is a 200 without a key. Of several issues some may be refused: their
# failedElementNumber counts from 0 in the request.
success = {
  status = [200, 201]
}

ticket = {
  id       = item.key
  location = headers.location
  items    = body.issues
  failed   = body.errors
  number   = item.failedElementNumber
  wrapper  = "{\"issues\":[],\"errors\":[]}"
}

# A label holds anything but blanks, 255 characters of it, and can be asked for.
# The client's own labels stay. pattern: what stands in a query's quotes as it
# is. A project whose create screen lacks the labels refuses them, see
# rejects_field; such a rule names another field, or none: token = { field = null }.
token = {
  header  = "Idempotency-Key"
  field   = "fields.labels"
  form    = "append"
  pattern = "[0-9A-Za-z:._/@-]+"
  max     = 255
}

memory = { kind = "none" }

# Used where a rule has an identity.
severity = {
  critical = ["Highest", "Blocker", "Critical", "1"]
  major    = ["High", "Major", "2"]
  minor    = ["Medium", "Minor", "3"]
  info     = ["Low", "Lowest", "Trivial", "4", "5"]
}

fingerprint = {
  severity = severity(coalesce(each.value.fields.priority.name, each.value.fields.priority.id))
}

witness = each.value.fields.summary

# The index lags behind a create, on a busy site by more than a few seconds
# (unsure how long at most), so that nothing found soon after is no proof. Cloud has
# taken the old search away. total is of Data Center, isLast of Cloud.
lookup = {
  path = endswith(host, ".atlassian.net") || host == "api.atlassian.com" ? "${base}/rest/api/3/search/jql" : "${base}/rest/api/2/search"
  query = {
    jql        = "labels = \"${native}\" ORDER BY created ASC"
    fields     = "labels,status,created"
    maxResults = "50"
  }
  settle   = "30s"
  tickets  = body.issues
  complete = body.total == null ? coalesce(body.isLast, body.nextPageToken == null) == true : body.total <= length(coalesce(body.issues, []))

  token   = item.fields.labels
  id      = item.key
  open    = item.fields.status.statusCategory.key != "done"
  created = item.fields.created

  answer = {
    status = 201
    body   = { id = item.id, key = item.key, self = item.self }
  }
}

# Every workflow has its own statuses; their category is one of three. Jira says
# 404 also to a caller who may not see the issue.
read = {
  path  = "${base}/rest/api/2/issue/${ticket.id}"
  query = { fields = "status" }
  when  = body.key != null
  open  = body.fields.status.statusCategory.key != "done"
}

# Cloud limits how often one issue is written: update_rate stays below.
update = {
  method  = "PUT"
  path    = "${base}/rest/api/2/issue/${ticket.id}"
  body    = { fields = { priority = each.value.fields.priority } }
  success = [200, 204]
  when    = status == 204 || body.key != null
}

# Transitions have other numbers in every workflow, so what closes or reopens an
# issue is said in the rule:
#
#   clear   = { method = "POST", path = "/rest/api/2/issue/${ticket.id}/transitions", body = { transition = { id = "31" } }, closes = true }
#   reopen  = { method = "POST", path = "/rest/api/2/issue/${ticket.id}/transitions", body = { transition = { id = "41" } } }
#   resolve = [{ method = "POST", path = "/rest/api/2/issue/(?P<id>[A-Z][A-Z0-9_]*-[0-9]+)/transitions", when = body.transition.id == "31" }]
#
#   merge_close = { path = "${base}/rest/api/2/issue/${ticket.id}/transitions", body = { transition = { id = "31" }, update = { comment = [{ add = { body = "Duplicate of ${survivor.id}." } }] } }, success = [204] }

# The link type is one of those that come with Jira. Unsure: which of the two
# sides says "duplicates"; the link is the same.
merge_link = {
  path    = "${base}/rest/api/2/issueLink"
  success = [200, 201]
  body = {
    type         = { name = "Duplicate" }
    inwardIssue  = { key = ticket.id }
    outwardIssue = { key = survivor.id }
  }
}

# What can be seen without: reads of an issue that is done, by its key or by its
# number, and a delete by its key.
resolve = [
  {
    method = "GET"
    path   = ".*/rest/api/(2|3|latest)/issue/[0-9]+"
    id     = answer.body.key
    when   = answer.body.fields.status.statusCategory.key == "done"
  },
  {
    method = "GET"
    path   = ".*/rest/api/(2|3|latest)/issue/(?P<id>[A-Z][A-Z0-9_]*-[0-9]+)"
    when   = answer.body.fields.status.statusCategory.key == "done"
  },
  {
    method = "DELETE"
    path   = ".*/rest/api/(2|3|latest)/issue/(?P<id>[A-Z][A-Z0-9_]*-[0-9]+)"
  },
]

# {"errors":{"labels":"Field 'labels' cannot be set. It is not on the
# appropriate screen, or unknown."}} From then on labels are left alone, see
# README. item: of a bulk answer.
rejects_field = status == 400 && body.errors.labels != null || item.elementErrors.errors.labels != null

# For one ticket a fault, a rule has an identity. One that reads body in place of
# each.value is of single issues: a request that makes several is then sent on
# whole, and counted.
#
#   identity = {
#     project = coalesce(each.value.fields.project.key, each.value.fields.project.id)
#     host    = each.value.fields.customfield_10071
#     check   = each.value.fields.customfield_10072
#   }

# Retry mode, where a rule has no identity.
window = "10m"
