backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci }
  match    = { when = body.a = "b" and not body.c }
  fingerprint = { cleared = body.state === "6" }
}
