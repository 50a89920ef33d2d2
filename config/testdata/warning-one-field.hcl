backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "faults" {
  backend  = "servicenow"
  match    = { when = body.alert == null }
  identity = { ci = body.cmdb_ci }
}

rule "alerts" {
  backend  = "servicenow"
  match    = { when = body.alert != null }
  identity = { alert = body.alert }
  scope    = host # one alert is one fault: no warning
}
