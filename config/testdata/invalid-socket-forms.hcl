socket = "/run/oneticket.sock"

backend "servicenow" {
  url = "https://acme.service-now.com"
}
