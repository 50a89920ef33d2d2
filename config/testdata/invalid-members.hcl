backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend     = "servicenow"
  identity    = { ci = body.cmdb_ci }
  fingerprint = { severty = body.impact }
  match       = { methd = "POST", method = "post" }
  success     = { status = [20] }
  memory      = { kind = "forgets" }
  token       = { header = "Idempotency Key", max = 4 }
}
