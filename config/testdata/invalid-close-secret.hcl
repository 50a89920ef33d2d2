backend "jira" {
  url          = "https://acme.atlassian.net"
  listen       = "127.0.0.1:8081"
  close_secret = "short"
}

backend "servicenow" {
  url          = "https://acme.service-now.com"
  listen       = "127.0.0.1:8082"
  close_secret = ""
}

backend "zendesk" {
  url          = "https://acme.zendesk.com"
  listen       = "127.0.0.1:8083"
  close_secret = "a secret of many words"
}

backend "redmine" {
  url          = "https://redmine.acme.example"
  listen       = "127.0.0.1:8084"
  close_secret = env("SECRET")
}
