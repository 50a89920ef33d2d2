backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
  ttl      = { core = 6h }
}

rule "more" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
  window   = 10m
}
