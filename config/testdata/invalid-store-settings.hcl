store "redis" {
  path    = "/var/lib/oneticket/keys.db"
  timeout = "1m"
}

store "sqlite" {}

backend "servicenow" {
  url = "https://acme.service-now.com"
}
