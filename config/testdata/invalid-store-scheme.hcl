store "redis" {
  url = "oneticket:PASSWORD@redis.example.com:6379"
}

backend "servicenow" {
  url = "https://acme.service-now.com"
}
