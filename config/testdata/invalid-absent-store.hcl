store "postgres" {
  url = "postgres://db/oneticket"
}

backend "servicenow" {
  url = "https://acme.service-now.com"
}
