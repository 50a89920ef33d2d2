backend "servicenow" {
  url      = "https://acme.service-now.com"
  time_out = "30s"
}

rule "faults" {
  backend  = "servicenow"
  identiy  = { ci = body.cmdb_ci }
}
