backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "links" {
  backend  = "servicenow"
  match    = { when = body.category == "link" }
  identity = { ci = lower(body.cmdb_ci), kind = body.kind }
}

rule "nodes" {
  backend  = "servicenow"
  match    = { when = body.category == "node" }
  identity = { kind = body.kind, ci = lower( body.cmdb_ci ) }
}

rule "sites" {
  backend  = "servicenow"
  match    = { when = body.category == "site" }
  identity = { kind = body.kind, ci = lower(body.cmdb_ci) }
  scope    = body.company
}
