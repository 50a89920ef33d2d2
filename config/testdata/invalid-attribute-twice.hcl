backend "servicenow" {
  url = "https://acme.service-now.com"
  url = "https://other.service-now.com"
}
