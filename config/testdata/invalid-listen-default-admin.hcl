backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "0.0.0.0:9911"
}
