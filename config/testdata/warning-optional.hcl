backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, port = lower(optional(body.port)) }
}
