watch = "often"
admin = 9911

backend "servicenow" {
  url   = ["https://acme.service-now.com"]
  hosts = { a = "b" }
}

rule "faults" {
  backend  = "servicenow"
  identity = body.cmdb_ci
  match    = "/api/now/table/incident"
  ttl      = { core = "soon" }
}
