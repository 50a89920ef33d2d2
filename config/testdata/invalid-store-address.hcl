store "redis" {
  timeout = "100ms"
}

backend "servicenow" {
  url = "https://acme.service-now.com"
}
