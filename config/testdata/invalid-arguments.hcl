backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend = "servicenow"
  identity = {
    a = lower(body.a, body.b)
    b = pick(body.list, "id")
    c = severity()
  }
}
