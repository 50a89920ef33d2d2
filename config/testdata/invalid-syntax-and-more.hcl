backend "servicenow" {
  url     = "https://acme.service-now.com"
  tiemout = "10s"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = lowr(body.cmdb_ci) }
}

rule "links" {
  backend  = "jira"
  identity = { link = body.link }
}

backend "jira" {
  url = "https://acme.atlassian.net
}
