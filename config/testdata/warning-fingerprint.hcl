backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "more" {
  backend     = "servicenow"
  match       = { path = "/api/now/table/problem" }
  identity    = { ci = body.cmdb_ci, kind = body.kind }
  fingerprint = { severity = body.impact }
  downgrade   = "ignore"
}

rule "retries" {
  backend     = "servicenow"
  match       = { path = "/api/now/table/change_request" }
  fingerprint = { severity = body.impact }
  ttl         = "1h"
}
