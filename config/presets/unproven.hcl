# Presets of systems that nobody has seen one of meet: each was made from
# descriptions of the API and from what its clients send, and works in retry mode.
# The language is explained in servicenow/incident.hcl. Where one has been tried,
# with requests that were recorded and answers of the system, it becomes a file of
# its own: CONTRIBUTING.md says how.
#
# Nothing is written into a body here but where the vendor folds by a field of its
# own, and nothing is looked up, read or changed: where that is known, README.md's
# table of systems says how it would be done.

# Freshservice, tickets.
preset "freshservice/ticket" {
  default = true
  match = {
    method = "POST"
    path   = "/api/v2/tickets|/helpdesk/tickets[.]json"
  }
  success = { status = [200, 201] }
  ticket = {
    id       = coalesce(body.ticket.id, body.helpdesk_ticket.id)
    location = headers.location
  }
  token  = { header = "Idempotency-Key" }
  memory = { kind = "none" }
  window = "10m"
}

# Freshdesk, tickets.
preset "freshdesk/ticket" {
  default = true
  match = {
    method = "POST"
    path   = "/api/v2/tickets|/helpdesk/tickets[.](json|xml)"
  }
  success = { status = [200, 201] }
  ticket = {
    id       = coalesce(body.id, body.helpdesk_ticket.id)
    location = headers.location
  }
  token  = { header = "Idempotency-Key" }
  memory = { kind = "none" }
  window = "10m"
}

# Jira Service Management, requests of customers. Alerts are opsgenie/alerts.
preset "jira/request" {
  match = {
    method = "POST"
    path   = "(?P<base>(/[^/]+)*?)/rest/servicedeskapi/request"
  }
  success = { status = [200, 201] }
  ticket  = { id = coalesce(body.issueKey, body.issueId) }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}

# BMC Helix and Remedy, incidents by the REST API.
preset "bmc/incident" {
  default = true
  match = {
    method = "POST"
    path   = "/api/arsys/v1([.]0)?/entry/HPD:IncidentInterface_Create"
  }
  # The number is in the answer only where fields= asks for it.
  success = { status = [200, 201] }
  ticket = {
    id       = coalesce(body.values["Incident Number"], basename(headers.location))
    location = headers.location
  }
  token  = { header = "Idempotency-Key" }
  memory = { kind = "none" }
  window = "10m"
}

# BMC Remedy, incidents by SOAP.
preset "bmc/soap" {
  match = {
    method = "POST"
    path   = "/arsys/services/ARService"
    query  = { webService = "HPD_IncidentInterface_Create_WS.*" }
    when   = body.Envelope.Body.HelpDesk_Submit_Service != null
  }
  success = { status = [200] } # unsure: the name of the answer's element
  ticket  = { id = coalesce(xml(body, "HelpDesk_Submit_ServiceResponse/Incident_Number"), regex("<(?:[A-Za-z0-9_]+:)?Incident_Number>([^<]+)<", text)[0]) }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  credential = {
    body = ["Envelope.Header.AuthenticationInfo.userName", "Envelope.Header.AuthenticationInfo.password"]
  }
  principal = body.Envelope.Header.AuthenticationInfo.userName
  window    = "10m"
}

# ManageEngine ServiceDesk Plus, requests by API v3.
preset "servicedeskplus/request" {
  default = true
  # The request is JSON in a field of a form. One in the query has no body, and
  # passes.
  match = {
    method = "POST"
    path   = "(/app/[^/]+)?/api/v3/requests"
    when   = body.input_data.request != null
  }
  success = {
    status = [200, 201]
    when   = coalesce(body.response_status.status, body.response_status[0].status, "success") == "success"
  }
  refused = coalesce(body.response_status.status, body.response_status[0].status) == "failed"
  ticket  = { id = body.request.id }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  credential = {
    headers = ["technician_key", "authtoken"]
  }
  window = "10m"
}

# Ivanti Neurons and HEAT, incidents.
preset "ivanti/incident" {
  default = true
  match = {
    method = "POST"
    path   = "(?i)(/[^/]+)?/api/odata/businessobject/incidents"
  }
  success = { status = [200, 201] }
  ticket  = { id = coalesce(body.RecId, body.IncidentNumber) }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}

# Cherwell, business objects. One that has an id is changed by the same request.
preset "cherwell/object" {
  default = true
  match = {
    method = "POST"
    path   = "(/[^/]+)?/api/V1/savebusinessobject"
    when   = body.busObId != null && coalesce(body.busObRecId, body.busObPublicId) == null
  }
  success = { status = [200, 201] }
  refused = body.hasError == "true" # unsure: whether that comes under a 200
  ticket  = { id = coalesce(body.busObRecId, body.busObPublicId) }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}

# TOPdesk, incidents.
preset "topdesk/incident" {
  default = true
  match = {
    method = "POST"
    path   = "/tas/api/incidents"
  }
  success = { status = ["2xx"] } # unsure: 201 or 206
  ticket  = { id = coalesce(body.id, body.number) }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}

# osTicket, tickets.
preset "osticket/ticket" {
  default = true
  match = {
    method = "POST"
    path   = "(?P<base>(/[^/]+)*?)/api/(http[.]php/)?tickets[.](json|xml|email)"
  }
  success = { status = [200, 201] } # the answer is the number alone
  ticket  = { id = regex("^\\s*\"?([0-9A-Za-z-]+)\"?\\s*$", text)[0] }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}

# Bugzilla, bugs by the REST API.
preset "bugzilla/bug" {
  default = true
  match = {
    method = "POST"
    path   = "(?P<base>(/[^/]+)*?)/rest([.]cgi)?/bug"
  }
  success = { status = [200, 201] }
  refused = body.error == "true" && body.code != "103"
  ticket  = { id = body.id }
  exists = {
    status = [400, 409]
    match  = "\"code\" *: *\"?103\\b" # the alias is in use
  }
  token  = { header = "Idempotency-Key" }
  memory = { kind = "none" }
  credential = {
    headers = ["x-bugzilla-api-key"]
    query   = ["api_key", "Bugzilla_api_key", "token"]
    body    = ["api_key", "Bugzilla_api_key", "token"]
  }
  window = "10m"
}

# GitHub, issues, also of an enterprise server.
preset "github/issue" {
  default = true
  match = {
    method = "POST"
    path   = "(/api/v3)?/repos/[^/]+/[^/]+/issues"
  }
  success = { status = [201] }
  ticket = {
    id       = body.id # the number is one of the repository alone
    location = coalesce(body.url, headers.location)
  }
  token  = { header = "Idempotency-Key" }
  memory = { kind = "none" }
  window = "10m"
}

# GitLab, issues. One whose fields are in the query has no body, and passes.
preset "gitlab/issue" {
  default = true
  match = {
    method = "POST"
    path   = "(?P<base>(/[^/]+)*?)/api/v4/projects/.+/issues"
  }
  success = { status = [200, 201] }
  ticket = {
    id       = body.id # iid is one of the project alone
    location = body._links.self
  }
  token      = { header = "Idempotency-Key" }
  memory     = { kind = "none" }
  credential = { headers = ["private-token", "job-token"] }
  window     = "10m"
}

# Linear, issues by GraphQL.
preset "linear/issue" {
  default = true
  match = {
    method = "POST"
    path   = "/graphql"
    when   = graphql(body).type == "mutation" && contains(graphql(body).fields, "issueCreate")
  }
  # A mutation that selects neither, or names its field otherwise, stays in doubt.
  success = {
    status = [200]
    when   = coalesce(body.data.issueCreate.success, "true") == "true"
  }
  refused = status == 200 && length(coalesce(body.errors, [])) > 0 && body.data.issueCreate == null
  ticket  = { id = coalesce(body.data.issueCreate.issue.id, body.data.issueCreate.issue.identifier) }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" } # an id that the client chooses would be remembered; none is set here
  window  = "10m"
}

# Splunk On-Call (VictorOps), alerts by its generic REST integration.
preset "splunk-oncall/alert" {
  default = true
  match = {
    method = "POST"
    path   = "/integrations/generic/20131114/alert/[^/]+/[^/]+"
    when   = contains(["CRITICAL", "WARNING", "INFO"], upper(body.message_type))
  }
  success = {
    status = [200]
    when   = body.result == null || body.result == "success"
  }
  refused = body.result == "failure"
  ticket  = { id = body.entity_id } # unsure: whether every answer has it
  token = {
    header = "Idempotency-Key"
    field  = "entity_id"
    max    = 255
  }
  memory     = { kind = "folds" }
  on_refire  = "forward"
  credential = { path = ["/integrations/generic/20131114/alert/([^/]+)/[^/]+"] }
  window     = "10m"
}

# xMatters, triggers of flows and integrations.
preset "xmatters/trigger" {
  default = true
  match = {
    method = "POST"
    path   = "/api/integration/1/functions/[^/]+/triggers"
  }
  success    = { status = [200, 202] } # taken; flood control may drop it later
  ticket     = { id = body.requestId }
  token      = { header = "Idempotency-Key" }
  memory     = { kind = "none" }
  credential = { query = ["apiKey"] }
  window     = "10m"
}

# Grafana OnCall, alerts by a formatted webhook. Its other integrations fold by
# templates of their own, and pass.
preset "grafana-oncall/alert" {
  default = true
  match = {
    method = "POST"
    path   = "(/oncall)?/integrations/v1/formatted_webhook/[^/]+"
    when   = lower(coalesce(body.state, "alerting")) != "ok"
  }
  success = { status = [200] }
  ticket  = "none" # "Ok."
  token = {
    header = "Idempotency-Key"
    field  = "alert_uid"
    max    = 255
  }
  memory     = { kind = "folds" }
  on_refire  = "forward"
  credential = { path = ["(?:/oncall)?/integrations/v1/formatted_webhook/([^/]+)"] }
  window     = "10m"
}

# incident.io, alerts of an HTTP source.
preset "incidentio/alert" {
  default = true
  match = {
    method = "POST"
    path   = "/v2/alert_events/http/[^/]+"
    when   = body.status == "firing"
  }
  success = { status = [200, 202] }
  ticket  = { id = body.deduplication_key }
  token = {
    header = "Idempotency-Key"
    field  = "deduplication_key"
    max    = 255
  }
  memory    = { kind = "folds" }
  on_refire = "forward"
  window    = "10m"
}

# incident.io, incidents.
preset "incidentio/incident" {
  match = {
    method = "POST"
    path   = "/v2/incidents"
  }
  success = { status = [200, 201] }
  ticket  = { id = body.incident.id }
  # The key is required, so clients always set one; it is theirs, and is the token.
  token = {
    header = "Idempotency-Key"
    field  = "idempotency_key"
  }
  memory = { kind = "remembers" } # for ever, as far as is written
  window = "10m"
}

# Rootly, incidents.
preset "rootly/incident" {
  default = true
  match = {
    method = "POST"
    path   = "/v1/incidents"
  }
  success = { status = [200, 201] }
  ticket  = { id = body.data.id }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}

# Rootly, alerts.
preset "rootly/alert" {
  match = {
    method = "POST"
    path   = "/v1/alerts"
  }
  success = { status = [200, 201] }
  ticket  = { id = body.data.id }
  # external_id folds where the source says so; it is not set here.
  token  = { header = "Idempotency-Key" }
  memory = { kind = "none" }
  window = "10m"
}

# SIGNL4, alerts by its webhook.
preset "signl4/alert" {
  default = true
  match = {
    method = "POST"
    path   = "/webhook/[^/]+"
    when   = coalesce(body["X-S4-Status"], body.payload["X-S4-Status"], "new") == "new"
  }
  success    = { status = [200, 201] }
  ticket     = { id = body.eventId } # unsure
  token      = { header = "Idempotency-Key" }
  memory     = { kind = "none" } # unsure: whether a second "new" folds
  credential = { path = ["/webhook/([^/]+)"] }
  window     = "10m"
}

# HaloITSM and HaloPSA, tickets. One that has an id is changed by the same request.
preset "haloitsm/ticket" {
  default = true
  match = {
    method = "POST"
    path   = "(/[^/]+)?/api/tickets"
    when   = length(body) == 1 && body[0].id == null && body[0].summary != null
  }
  success = { status = [200, 201] }
  ticket  = { id = coalesce(body.id, body[0].id) }
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}

# SolarWinds Service Desk (Samanage), incidents.
preset "solarwinds/incident" {
  default = true
  match = {
    method = "POST"
    path   = "/incidents([.](json|xml))?"
    when   = body.incident != null
  }
  success    = { status = [200, 201] }
  ticket     = { id = coalesce(body.id, body.incident.id) }
  token      = { header = "Idempotency-Key" }
  memory     = { kind = "none" }
  credential = { headers = ["x-samanage-authorization"] }
  principal  = headers.x-samanage-authorization
  window     = "10m"
}

# Azure DevOps, work items.
preset "azure-devops/workitem" {
  default = true
  match = {
    method = "POST"
    path   = "(/[^/]+){1,3}/_apis/wit/workitems/[$][^/]+"
    query  = { validateOnly = "(?i)(false)?" }
  }
  success = { status = [200, 201] }
  ticket = {
    id       = body.id
    location = body.url
  }
  token  = { header = "Idempotency-Key" }
  memory = { kind = "none" }
  window = "10m"
}

# Alertmanager's webhook, into whatever takes it for a ticket.
preset "alertmanager/webhook" {
  default = true
  match = {
    method = "POST"
    when   = body.groupKey != null && body.alerts != null && body.version != null
    clears = body.status == "resolved"
  }
  success = { status = ["2xx"] }
  ticket  = "none"
  token   = { header = "Idempotency-Key" }
  memory  = { kind = "none" }
  window  = "10m"
}
