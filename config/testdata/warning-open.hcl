admin = "0.0.0.0:9911"

backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "[::]:8081"
}

backend "jira" {
  url    = "https://acme.atlassian.net"
  listen = "127.0.0.2:8082"
}

backend "zendesk" {
  url = "https://acme.zendesk.com"
}
