backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "all" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.kind }
}

rule "links" {
  backend  = "servicenow"
  match    = { when = body.category == "link" }
  identity = { link = body.link, kind = body.kind }
}

rule "changes" {
  backend  = "servicenow"
  match    = { path = "/api/now/table/change_request" }
  identity = { ci = body.cmdb_ci, change = body.change }
}
