backend "servicenow" {
  url = "https://acme.service-now.com"
}

backend "servicenow" {
  url     = "acme.service-now.com"
  tiemout = "10s"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
}

rule "faults" {
  backend  = "servicenaw"
  identity = { ci = body.cmdb_ci }
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = lowr(body.cmdb_ci) }
  ttl      = "never"
}
