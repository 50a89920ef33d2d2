admin = null

backend "servicenow" {
  url     = null
  timeout = null
  hosts   = ["a.example.com", null]
}

rule "faults" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = null }
  ttl      = []
  window   = {}
}
