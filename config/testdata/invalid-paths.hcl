backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = {
    a = method.name
    b = headers.x-id.value
    c = query["id"][0]
    d = body.alerts[*].labels.name[0]
    e = [for method in body.methods : method.name][0]
  }
  ticket = { id = status.code }
}
