backend "servicenow" {
  url    = "https://acme.service-now.com"
  preset = "servicenow/incidents"
}
