backend "jira" {
  url         = "https://acme.atlassian.net"
  listen      = "127.0.0.1:8081"
  credentials = { Authorization = "Basic cg==" }
}

backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8082"
}

backend "other" {
  url         = "https://desk.example.test"
  listen      = "127.0.0.1:8083"
  preset      = "generic/json"
  credentials = { Authorization = "Basic cg==" }
}

rule "no_way" {
  backend  = "jira"
  identity = { host = body.fields.host, check = body.fields.check }
  merge    = "close"
}

rule "no_credentials" {
  backend  = "servicenow"
  identity = { host = body.cmdb_ci, check = body.category }
  merge    = "link"
}

rule "no_read" {
  backend    = "other"
  match      = { path = "/tickets" }
  identity   = { host = body.host, check = body.check }
  merge      = "link"
  merge_link = { path = "/tickets/${ticket.id}/links", body = { to = survivor.id } }
}

rule "all_is_there" {
  backend  = "jira"
  match    = { path = "/rest/api/2/issue/bulk" }
  identity = { host = body.fields.host, check = body.fields.check, site = body.fields.site }
  merge    = "link"
}
