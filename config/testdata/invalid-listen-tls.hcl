backend "pagerduty" {
  url    = "https://events.pagerduty.com"
  listen = "127.0.0.1:8443"
  tls    = { crt = "listen.crt", key = "listen.key" }
}

backend "jira" {
  url    = "https://acme.atlassian.net"
  listen = "127.0.0.1:8444"
  tls    = { cert = "listen.crt" }
}
