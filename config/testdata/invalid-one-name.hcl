backend "servicenow" {
  url = "https://acme.service-now.com"
}

backend "jira" {
  url = "https://acme.atlassian.net"
}

rule "jira" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
}
