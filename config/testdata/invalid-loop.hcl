backend "servicenow" {
  url    = "http://127.0.0.1:8081"
  listen = "127.0.0.1:8081"
}

backend "jira" {
  url    = "http://localhost:8082/jira"
  listen = "0.0.0.0:8082"
}

backend "zendesk" {
  url    = "https://127.0.0.1"
  listen = "127.0.0.1:8443"
}
