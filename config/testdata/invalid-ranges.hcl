in_flight {
  busy = 200
  wait = "20"
}

limits {
  max_body = "1TB"
}

backend "servicenow" {
  url          = "https://acme.service-now.com"
  timeout      = -1
  failure_mode = "opened"
  rate         = "fast"
}
