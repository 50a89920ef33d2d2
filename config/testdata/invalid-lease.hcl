in_flight {
  lease = "30s"
}

backend "servicenow" {
  url     = "https://acme.service-now.com"
  timeout = "45s"
}
