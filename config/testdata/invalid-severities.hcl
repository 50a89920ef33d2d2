backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "a" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  severity = ["critical", "major"]
}

rule "b" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  severity = { critical = ["1", "high"], major = ["High"], minor = { a = "3" } }
}

rule "c" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  severity = {}
}

rule "d" {
  backend  = "servicenow"
  identity = { ci = body.cmdb_ci, kind = body.category }
  severity = { (body.x) = ["1"] }
}
