backend {
  url = "https://acme.service-now.com"
}

backend "service" "now" {
  url = "https://acme.service-now.com"
}

in_flight "all" {
  wait = "10s"
}

store "sqlite" "main" {
}
