backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  settle   = "0s"
  remember = "10s"
  max_age  = "400d"
  ttl      = { core = "100d", core = "1h", access = null }
}
