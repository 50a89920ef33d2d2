# ServiceNow, incidents by SOAP (incident.do). The language is explained in
# incident.hcl.
#
# Where the facts are from: ServiceNow, "SOAP web service" (direct web services,
# insert and its response) and "Table API", by which the same records are read and
# changed here. A caller needs the rights of that too: without them there is no
# look-up, and a worse severity becomes a ticket of its own.

# Elements go by their local names, whatever their prefixes.
match = {
  method = "POST"
  path   = "/incident[.]do"
  when   = body.Envelope.Body.insert != null
}

# A Fault may come after the record was made, so it stays in doubt.
success = {
  status = [200]
}

ticket = {
  id = xml(body, "insertResponse/sys_id")
}

# Another token stays where the client has put it, see incident.hcl.
token = {
  header  = "Idempotency-Key"
  field   = "Envelope.Body.insert.correlation_id"
  pattern = "[0-9A-IK-Za-ik-z][0-9A-Za-z:._/@# -]*|[Jj][0-9A-Za-z._/@# -]*"
  max     = 100
}

memory = { kind = "none" }

severity = {
  critical = ["1", "1 - High", "High"]
  major    = ["2", "2 - Medium", "Medium"]
  minor    = ["3", "3 - Low", "Low"]
}

fingerprint = {
  severity = severity(xml(body, "insert/urgency"), xml(body, "insert/impact"))
  cleared  = contains(["6", "7", "8"], coalesce(xml(body, "insert/incident_state"), xml(body, "insert/state")))
}

witness = xml(body, "insert/short_description")

lookup = {
  path = "/api/now/table/incident"
  query = {
    sysparm_query                  = "correlation_id=${native}^ORDERBYsys_created_on"
    sysparm_limit                  = "20"
    sysparm_display_value          = "false"
    sysparm_exclude_reference_link = "true"
  }
  tickets  = body.result
  complete = headers.x-total-count == null ? length(coalesce(body.result, [])) < 20 : headers.x-total-count <= length(coalesce(body.result, []))

  token   = item.correlation_id
  id      = regex("^[0-9a-f]{32}$", item.sys_id)
  open    = !contains(["6", "7", "8"], item.state) && coalesce(item.active, "true") != "false"
  created = item.sys_created_on # in UTC

  answer = {
    status  = 200
    headers = { content-type = "text/xml;charset=utf-8" }
    body    = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><SOAP-ENV:Envelope xmlns:SOAP-ENV=\"http://schemas.xmlsoap.org/soap/envelope/\"><SOAP-ENV:Body><insertResponse xmlns=\"http://www.service-now.com/incident\"><sys_id>${item.sys_id}</sys_id><number>${regex("^[0-9A-Za-z_-]+$", item.number)}</number></insertResponse></SOAP-ENV:Body></SOAP-ENV:Envelope>"
  }
}

read = {
  path  = "/api/now/table/incident/${ticket.id}"
  query = { sysparm_fields = "sys_id,number,state,active", sysparm_display_value = "false" }
  when  = body.result.sys_id != null
  open  = !contains(["6", "7", "8"], body.result.state) && coalesce(body.result.active, "true") != "false"
}

update = {
  method  = "PATCH"
  path    = "/api/now/table/incident/${ticket.id}"
  query   = { sysparm_fields = "sys_id,state", sysparm_display_value = "false" }
  body    = { urgency = xml(body, "insert/urgency"), impact = xml(body, "insert/impact") }
  success = [200, 204]
  when    = status == 204 || body.result != null
  closed  = contains(["6", "7", "8"], body.result.state)
}

# Unsure: as in incident.hcl.
clear = {
  method  = "PATCH"
  query   = { sysparm_fields = "sys_id,state", sysparm_display_value = "false" }
  success = [200, 204]
  when    = status == 204 || body.result != null
  stays   = !contains(["6", "7", "8"], body.result.state)
  closes  = true
  body = {
    state       = "6"
    close_code  = coalesce(xml(body, "insert/close_code"), "Resolved by caller")
    close_notes = coalesce(xml(body, "insert/close_notes"), xml(body, "insert/short_description"), "Resolved by monitoring")
  }
}

# A Fault is a 500. An update by SOAP names the record in its body.
resolve = [
  {
    method = "POST"
    path   = "/incident[.]do"
    id     = coalesce(xml(body, "update/sys_id"), xml(body, "deleteRecord/sys_id"))
    when   = can(regex("<([A-Za-z0-9_-]+:)?(update|deleteRecord)Response[ >]", answer.text)) && (xml(body, "deleteRecord/sys_id") != null || contains(["6", "7", "8"], coalesce(xml(body, "update/incident_state"), xml(body, "update/state"))))
  },
  {
    method = ["PATCH", "PUT", "GET"]
    path   = "/api/now(/v[0-9]+)?/table/incident/(?P<id>[0-9a-f]{32})"
    when   = contains(["6", "7", "8", "Resolved", "Closed", "Canceled"], coalesce(answer.body.result.state.value, answer.body.result.state, body.incident_state, body.state))
  },
]

# Basic is known by itself; WS-Security is in the envelope.
credential = {
  body = ["Envelope.Header.Security.UsernameToken.Username", "Envelope.Header.Security.UsernameToken.Password"]
}
principal = body.Envelope.Header.Security.UsernameToken.Username

# For one ticket a fault, a rule has an identity:
#
#   identity = {
#     element_id = lower(coalesce(xml(body, "insert/cmdb_ci"), xml(body, "insert/u_device_ip")))
#     fault      = replace(xml(body, "insert/short_description"), "/^(?i)problem: */", "")
#   }

# Retry mode, where a rule has no identity.
window = "10m"
