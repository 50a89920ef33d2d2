backend "servicenow" {
  url     = "https://acme.service-now.com"
  timeout = "10s"
}
