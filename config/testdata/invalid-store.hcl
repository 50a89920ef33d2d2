store {
  path = "/var/lib/oneticket/keys.db"
}

backend "servicenow" {
  url = "https://acme.service-now.com"
}
