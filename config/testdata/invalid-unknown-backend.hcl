backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "service-now"
  identity = { ci = body.cmdb_ci }
}
