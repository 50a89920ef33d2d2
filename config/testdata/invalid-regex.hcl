backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
  match    = { path = "/api/now/(table/incident" }
  exists   = { match = "*there" }
}
