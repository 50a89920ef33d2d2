# Ticket systems, one ticket a fault in each. The automation is pointed at
# `listen`, and nothing else about it changes.

state_dir = env("STATE_DIR")
admin     = env("ADMIN")

backend "servicenow" {
  url    = env("SERVICENOW_URL")
  listen = env("SERVICENOW_LISTEN")
}

backend "jira" {
  url    = env("JIRA_URL")
  listen = env("JIRA_LISTEN")
}

backend "zendesk" {
  url    = env("ZENDESK_URL")
  listen = env("ZENDESK_LISTEN")
}

# Clients that take https only, or know no other address than the vendor's own.
# Their automation trusts the CA of this certificate.

backend "pagerduty" {
  url    = env("PAGERDUTY_URL")
  listen = env("PAGERDUTY_LISTEN")
  tls    = { cert = env("CERT"), key = env("KEY") }
}

backend "incidents" {
  preset = "pagerduty/incidents"
  url    = env("INCIDENTS_URL")
  listen = env("INCIDENTS_LISTEN")
  tls    = { cert = env("CERT"), key = env("KEY") }
}

backend "secured" {
  preset = "servicenow/incident"
  url    = env("SECURED_URL")
  listen = env("SECURED_LISTEN")
  tls    = { cert = env("CERT"), key = env("KEY") }
}

backend "notified" {
  preset = "opsgenie/alerts"
  url    = env("NOTIFIED_URL")
  listen = env("NOTIFIED_LISTEN")
  tls    = { cert = env("CERT"), key = env("KEY") }
}

backend "opsgenie" {
  url    = env("OPSGENIE_URL")
  listen = env("OPSGENIE_LISTEN")
}

backend "redmine" {
  url    = env("REDMINE_URL")
  listen = env("REDMINE_LISTEN")
}

backend "rt" {
  url    = env("RT_URL")
  listen = env("RT_LISTEN")
}

backend "hooks" {
  preset = "generic/json"
  url    = env("HOOKS_URL")
  listen = env("HOOKS_LISTEN")
}

# settle: how long the ticket system may go on working on a create after its
# answer was lost. The stand-ins of the test do not; real ones do: leave it out.

rule "incidents" {
  backend = "servicenow"
  preset  = "servicenow/incident"
  settle  = "2s"

  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
}

rule "issues" {
  backend = "jira"
  preset  = "jira/issue"
  settle  = "2s"
  lookup  = { settle = "2s" } # the preset's: the search index lags behind

  identity = {
    project = coalesce(body.fields.project.key, body.fields.project.id)
    host    = body.fields.customfield_10071
    check   = body.fields.customfield_10072
  }

  # 31 is "Done" in this project's workflow.
  resolve = [
    {
      method = "POST"
      path   = "/rest/api/(2|3|latest)/issue/(?P<id>[A-Z][A-Z0-9_]*-[0-9]+)/transitions"
      when   = body.transition.id == "31"
    },
    {
      method = "GET"
      path   = "/rest/api/(2|3|latest)/issue/(?P<id>[A-Z][A-Z0-9_]*-[0-9]+)"
      when   = answer.body.fields.status.statusCategory.key == "done"
    },
  ]
}

rule "tickets" {
  backend = "zendesk"
  preset  = "zendesk/ticket"
  settle  = "2s"

  identity = {
    item  = pick(body.ticket.custom_fields, "id", "3601").value
    fault = pick(body.ticket.custom_fields, "id", "3602").value
  }
}

rule "soap" {
  backend = "servicenow"
  preset  = "servicenow/soap"
  settle  = "2s"

  identity = {
    element_id  = lower(xml(body, "insert/cmdb_ci"))
    fault_class = xml(body, "insert/category")
  }
}

rule "secured_incidents" {
  backend = "secured"
  preset  = "servicenow/incident"
  settle  = "2s"

  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
}

rule "events" {
  backend = "pagerduty"
  preset  = "pagerduty/events"
  settle  = "2s"

  identity = {
    fault = try(body.dedup_key, body.payload.source)
  }
  scope = "${host} ${substr(sha256(body.routing_key), 0, 32)}"
}

# Titles carry the time of day.
rule "pages" {
  backend = "incidents"
  preset  = "pagerduty/incidents"
  settle  = "2s"

  identity = {
    service = body.incident.service.id
    fault   = regex(" on ([^ ,]+)", body.incident.title)[0]
  }
}

rule "alerts" {
  backend = "opsgenie"
  preset  = "opsgenie/alerts"
  settle  = "2s"

  identity = {
    fault = try(body.alias, regex(" on ([^ ,]+)", body.message)[0])
  }
  scope = host # a host has one fault here
}

rule "notifications" {
  backend = "notified"
  preset  = "opsgenie/alerts"
  settle  = "2s"

  identity = {
    fault = coalesce(body.alias, body.entity)
  }
  scope = host
}

# This Redmine has a custom field 7, a text, by which issues are found again: in
# JSON, whatever the client speaks.
rule "bugs" {
  backend = "redmine"
  preset  = "redmine/issues"
  settle  = "2s"
  match   = { path = "(?P<base>(/[^/]+)*?)(/projects/[^/]+)?/issues[.]json" }

  identity = {
    project = try(body.issue.project_id, regex("/projects/([^/]+)/issues", path)[0])
    host    = regex("(?m)^Host: *([^\\r\\n]+)", body.issue.description)[0]
  }

  token = {
    field   = "issue.custom_fields"
    form    = "item"
    item    = { id = "7" }
    element = "custom_field"
    pattern = "[0-9A-Za-z:._/@-]+"
    max     = 255
  }
  lookup = {
    path     = "${base}/issues.json"
    query    = { cf_7 = native, status_id = "*", sort = "created_on", limit = "100" }
    tickets  = body.issues
    complete = body.total_count <= length(coalesce(body.issues, []))
    token    = pick(item.custom_fields, "id", "7").value
    id       = item.id
    open     = item.status.is_closed == "false"
    created  = item.created_on
    answer   = { status = 201, headers = { location = "${url}/issues/${item.id}" }, body = { issue = item } }
  }
}

rule "bugs_in_xml" {
  backend = "redmine"
  preset  = "redmine/issues"
  settle  = "2s"
  match   = { path = "(?P<base>(/[^/]+)*?)(/projects/[^/]+)?/issues[.]xml" }

  identity = {
    project = body.issue.project_id
    host    = regex("(?m)^Host: *([^\\r\\n]+)", body.issue.description)[0]
  }

  token = {
    field   = "issue.custom_fields"
    form    = "item"
    item    = { id = "7" }
    element = "custom_field"
    pattern = "[0-9A-Za-z:._/@-]+"
    max     = 255
  }
  lookup = {
    path     = "${base}/issues.json"
    query    = { cf_7 = native, status_id = "*", sort = "created_on", limit = "100" }
    tickets  = body.issues
    complete = body.total_count <= length(coalesce(body.issues, []))
    token    = pick(item.custom_fields, "id", "7").value
    id       = item.id
    open     = item.status.is_closed == "false"
    created  = item.created_on
    answer = {
      status  = 201
      headers = { location = "${url}/issues/${item.id}", content-type = "application/xml; charset=utf-8" }
      body    = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><issue><id>${item.id}</id></issue>"
    }
  }
}

# This Request Tracker has a custom field OneTicket, by which tickets are found
# again.
rule "rt1" {
  backend = "rt"
  preset  = "rt/rest1"
  settle  = "2s"

  identity = { host = body.content.CF.Host }
  scope    = host

  token = {
    field   = "content.CF.OneTicket"
    pattern = "[0-9A-Za-z:._/@-]+"
    max     = 255
  }
  lookup = {
    path    = "${base}/REST/1.0/search/ticket"
    headers = { Accept = "*/*" }
    query   = { query = "'CF.{OneTicket}' = '${native}'", fields = "id,Status,CF.{OneTicket}", orderby = "+id" }
    when    = can(regex("^RT/\\S+ 200 ", text))
    tickets = [for t in regexall("(?:^|\n)id: ticket/(?P<id>[0-9]+)\n(?:[A-Za-z].*\n)*?Status: (?P<status>\\S+)\n(?:[A-Za-z].*\n)*?CF[.]{OneTicket}: (?P<token>\\S+)", text) : t]
    token   = item.token
    id      = item.id
    open    = !contains(["resolved", "rejected", "deleted"], item.status)
    answer  = { status = 200, body = "RT/1.0 200 Ok\n\n# Ticket ${item.id} created.\n\n" }
  }
}

rule "rt2" {
  backend = "rt"
  preset  = "rt/rest2"
  settle  = "2s"

  identity = { host = body.CustomFields.Host }
  scope    = host

  token = {
    field   = "CustomFields.OneTicket"
    pattern = "[0-9A-Za-z:._/@-]+"
    max     = 255
  }
  lookup = {
    path     = "${base}/REST/2.0/tickets"
    query    = { query = "'CF.{OneTicket}' = '${native}'", fields = "Status,Created,CustomFields", per_page = "20", orderby = "id" }
    tickets  = body.items
    complete = body.total <= length(coalesce(body.items, []))
    token    = pick(item.CustomFields, "name", "OneTicket").values
    id       = item.id
    location = item._url
    open     = !contains(["resolved", "rejected", "deleted"], item.Status)
    created  = item.Created
    answer   = { status = 201, headers = { location = item._url }, body = { id = item.id, type = "ticket", _url = item._url } }
  }
}

# A ticket system of one's own, behind webhooks.

rule "hooks" {
  backend = "hooks"
  preset  = "generic/json"
  settle  = "2s"
  match   = { path = "/hooks/(json|form|xml)" }

  identity = {
    host = coalesce(body.host, xml(body, "Notification/host"))
  }
  scope = host # a host has one fault here

  severity = {
    critical = ["failure"]
    minor    = ["warning"]
  }
  fingerprint = {
    severity = severity(coalesce(body.type, xml(body, "Notification/MessageType")))
    cleared  = coalesce(body.type, xml(body, "Notification/MessageType")) == "success"
  }

  lookup = {
    path    = "/tickets"
    query   = { key = token }
    tickets = body.tickets
    token   = item.idempotency_key
    id      = item.id
    open    = item.status == "open"
    answer  = { status = 201, body = item }
  }
  read = {
    path = "/tickets/${ticket.id}"
    when = body.id != null
    open = body.status == "open"
  }
  update = {
    method  = "PATCH"
    path    = "/tickets/${ticket.id}"
    body    = { severity = coalesce(body.type, xml(body, "Notification/MessageType")) }
    success = [200]
    closed  = body.status == "closed"
  }
  clear = {
    method  = "PATCH"
    path    = "/tickets/${ticket.id}"
    body    = { status = "closed" }
    success = [200]
    closes  = true
  }
}

# What an Alertmanager says of a group of alerts: another one of the pair says
# the same with other addresses in it. The worst alert that fires counts.
rule "groups" {
  backend = "hooks"
  preset  = "generic/json"
  settle  = "2s"
  match   = { path = "/hooks/alertmanager" }

  identity = {
    group = jsonencode(body.groupLabels)
  }
  scope = host # one receiver, one kind of group

  severity = {
    critical = ["critical"]
    minor    = ["warning"]
  }
  fingerprint = {
    severity = severity(contains([for a in body.alerts : a.labels.severity if a.status == "firing"], "critical") ? "critical" : "warning")
    cleared  = body.status == "resolved"
  }

  lookup = {
    path    = "/tickets"
    query   = { key = token }
    tickets = body.tickets
    token   = item.idempotency_key
    id      = item.id
    open    = item.status == "open"
    answer  = { status = 201, body = item }
  }
  read = {
    path = "/tickets/${ticket.id}"
    when = body.id != null
    open = body.status == "open"
  }
  update = {
    method  = "PATCH"
    path    = "/tickets/${ticket.id}"
    body    = { severity = severity == "critical" ? "critical" : "warning" }
    success = [200]
    closed  = body.status == "closed"
  }
  clear = {
    method  = "PATCH"
    path    = "/tickets/${ticket.id}"
    body    = { status = "closed" }
    success = [200]
    closes  = true
  }
}
