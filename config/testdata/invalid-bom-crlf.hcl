backend "servicenow" {
  url  = "https://acme.service-now.com"
  tiemout = "30s"
}
