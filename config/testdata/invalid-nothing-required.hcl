backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = optional(body.cmdb_ci), "a=b" = optional(body.b) }
}
