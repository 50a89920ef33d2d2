backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = {
    "ci name"      = body.cmdb_ci
    "${body.name}" = body.kind
    (body.name)    = body.kind
    body.other     = body.kind
  }
}

rule "my rule!" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
}
