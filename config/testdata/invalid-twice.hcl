limits {}

backend "servicenow" {
  url = "https://acme.service-now.com"
}

backend "servicenow" {
  url = "https://other.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, ci = body.ci }
  severity = { critical = ["1"], minor = ["1"] }
}

rule "faults" {
  backend = "servicenow"
}

limits {}
