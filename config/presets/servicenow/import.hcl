# ServiceNow, import sets: one row into a staging table, from which a transform
# map makes or changes records. The language is explained in incident.hcl.
#
# Where the facts are from: ServiceNow, "Import Set API" of the REST API
# reference (path, the list of results, one for each transform map, and their
# status). Which columns a staging table has, and which of them decide whether a
# row is a new record, is each installation's own; so there is no field for the
# token here, and no look-up. Where a column is mapped to correlation_id, name it:
#
#   token = { field = "u_correlation_id" }
#
# and take lookup from servicenow/incident.

match = {
  method = "POST"
  path   = "/api/now(/v[0-9]+)?/import/[^/]+" # insertMultiple answers before anything is made
}

# A row may be transformed by several maps; the first record that it made or
# changed is the ticket.
success = {
  status = [200, 201]
}

ticket = {
  id       = [for r in body.result : r.sys_id if contains(["inserted", "updated"], r.status)][0]
  location = [for r in body.result : r.record_link if contains(["inserted", "updated"], r.status)][0]
}

# "ignored" stays in doubt: the record was there already, or the map skipped it.
refused = contains([for r in body.result : r.status], "error") && !contains([for r in body.result : r.status], "inserted") && !contains([for r in body.result : r.status], "updated")

token = {
  header = "Idempotency-Key"
}

memory = { kind = "none" }

# Used where a rule has an identity. Unsure: that the columns are named as the
# fields of an incident are.
severity = {
  critical = ["1", "1 - High", "High"]
  major    = ["2", "2 - Medium", "Medium"]
  minor    = ["3", "3 - Low", "Low"]
}

fingerprint = {
  severity = severity(coalesce(body.urgency, body.u_urgency), coalesce(body.impact, body.u_impact))
  cleared  = contains(["6", "7", "8", "Resolved", "Closed", "Canceled"], coalesce(body.state, body.u_state))
}

witness = coalesce(body.short_description, body.u_short_description)

# The link in the answer names the table that the record is in.
read = {
  path  = "/api/now/table/${regex("/table/([a-z0-9_]+)/", ticket.location)[0]}/${ticket.id}"
  query = { sysparm_fields = "sys_id,number,state,active", sysparm_display_value = "false" }
  when  = body.result.sys_id != null
  open  = !contains(["6", "7", "8"], body.result.state) && coalesce(body.result.active, "true") != "false"
}

# The same row again would be a new one unless the map coalesces it, so nothing
# is updated here.

resolve = [
  {
    method = ["PATCH", "PUT", "GET"]
    path   = "/api/now(/v[0-9]+)?/table/[a-z0-9_]+/(?P<id>[0-9a-f]{32})"
    when   = contains(["6", "7", "8", "Resolved", "Closed", "Canceled"], coalesce(answer.body.result.state.value, answer.body.result.state, body.incident_state, body.state))
  },
]

credential = {
  headers = ["x-sn-apikey", "x-usertoken"]
}
principal = headers["x-sn-apikey"]

# For one ticket a fault, a rule has an identity. Splunk's add-on sends a
# correlation_id of its own, which is random where nobody has set it.
#
#   identity = {
#     element_id  = lower(body.ci_identifier)
#     fault_class = body.category
#   }

# Retry mode, where a rule has no identity.
window = "10m"
