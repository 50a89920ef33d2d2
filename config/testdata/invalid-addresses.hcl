admin = "9911"

backend "service now" {
  url    = "acme.service-now.com"
  listen = "8081"
  via    = "http://user:password@proxy"
}

envoy {
  message_timeout     = "60s"
  max_message_timeout = "10s"
}
