socket = "0.0.0.0:9912"
tls = {
  cert = "/etc/oneticket/tls.crt"
  key  = "/etc/oneticket/tls.key"
}
backend "jira" {
  url = "https://acme.atlassian.net"
}
