backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "all" {
  backend  = "servicenow"
  identity = { site = "north", who = optional(body.caller) }
}

rule "key" {
  backend = "servicenow"
  key     = "the-key"
}

rule "field" {
  backend = "servicenow"
  key     = body.id
}
