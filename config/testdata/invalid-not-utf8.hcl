backend "servicenow" {
  url = "https://acmeé.service-now.com"
}
