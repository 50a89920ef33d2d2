backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = {
    ci    = lowercase(boddy.cmdb_ci)
    check = status
    tags  = [for f in body.fields : g.value][0]
  }
  ticket = { id = request.body.id }
}
