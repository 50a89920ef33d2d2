backend "servicenow" {
  url     = "https://acme.service-now.com"
  timeout = var.timeout
}

rule "faults" {
  backend     = servicenow
  identity    = { ci = body.cmdb_ci, kind = body.category }
  action      = observe
  window      = body.window
  max_age     = lowercase("24H")
  remember    = parseint("x", 10)
}
