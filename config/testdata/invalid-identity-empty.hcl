backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "none" {
  backend  = "servicenow"
  identity = {}
}
