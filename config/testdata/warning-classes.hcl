backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  ttl      = { default = "1h", access = "10m", core = "6h" }
}

rule "more" {
  backend  = "servicenow"
  match    = { path = "/api/now/table/problem" }
  identity = { ci = body.cmdb_ci, kind = body.kind }
  class    = body.tier
  ttl      = "2h"
}
