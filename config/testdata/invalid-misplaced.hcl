timeout = "10s"

backend "servicenow" {
  url   = "https://acme.service-now.com"
  ttl   = "1h"
  watch = true
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  listen   = "127.0.0.1:8081"
  max_body = "1MiB"

  backend "jira" {
    url = "https://acme.atlassian.net"
  }
  matches {
    method = "POST"
  }
}
