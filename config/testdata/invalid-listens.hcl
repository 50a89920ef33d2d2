admin = "127.0.0.1:8083"

backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

backend "jira" {
  url    = "https://acme.atlassian.net"
  preset = "generic/json"
  listen = "127.0.0.1:8081"
}

backend "desk" {
  url    = "https://desk.example.com"
  listen = "0.0.0.0:8081"
}

backend "other" {
  url    = "https://other.example.com"
  listen = "127.0.0.1:8083"
}
