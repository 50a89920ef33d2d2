backend "servicenow" {
  url     = "https://acme.service-now.com"
  time_out = "30s"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = lower(body.cmdb_ci }
}
