backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend = "servicenow"
  ticket  = { id = null }
}
