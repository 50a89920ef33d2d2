backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "faults" {
  backend       = "servicenow"
  identity      = { ci = body.cmdb_ci, kind = body.category }
  ttl           = { default = "1h", core = "48h" }
  class         = body.tier
  remember      = "2h"
  reopen_within = "1h"
}

rule "more" {
  backend       = "servicenow"
  match         = { path = "/api/now/table/problem" }
  identity      = { ci = body.cmdb_ci, kind = body.kind }
  remember      = "1h"
  reopen_within = "36h"
}

rule "retries" {
  backend = "servicenow"
  match   = { path = "/api/now/table/change_request" }
  window  = "6h"
}
