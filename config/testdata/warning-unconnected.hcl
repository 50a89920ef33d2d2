dead_letter {
  max_count = 10
  max_bytes = "1MiB"
  max_age   = "1h"
  replay    = "auto"
}

backend "servicenow" {
  url         = "https://acme.service-now.com"
  listen      = "127.0.0.1:8081"
  credentials = { Authorization = env("SECRET") }
}

rule "sets_all" {
  backend     = "servicenow"
  match       = { path = "/a" }
  identity    = { ci = body.cmdb_ci, kind = body.category }
  on_update   = "suppress"
  on_suspect  = "count"
  merge       = "close"
  update_rate = "6/m"
}

rule "says_what_holds" {
  backend   = "servicenow"
  match     = { path = "/b" }
  identity  = { ci = body.cmdb_ci, kind = body.kind }
  on_update = "forward"
  merge     = "report"
}
