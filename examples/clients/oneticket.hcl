# Three ticket systems, one ticket a fault in each. The automation is pointed at
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
