socket = "0.0.0.0:9912"

backend "servicenow" {
  url = "https://acme.service-now.com"
}
