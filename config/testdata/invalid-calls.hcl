backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = {
    a = contains("prod", body.stage)
    b = parseint("ten", 10)
    c = lower(jsondecode("{"))
    d = tolower(body.d)
    e = Lower(body.e)
  }
}

rule "retries" {
  backend = "servicenow"
  key     = request_key({ ignored = ["title"], bucket = 0 })
}

rule "more" {
  backend = "servicenow"
  key     = request_key({ bucket = 10000 })
}
