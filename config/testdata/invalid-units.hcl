in_flight {
  wait        = 20
  lease       = "70 seconds"
  max_waiters = "4k"
}

limits {
  max_body     = "4M"
  max_response = "256 kib"
}

dead_letter {
  max_age = "1w"
  replay  = "yes"
}

backend "servicenow" {
  url     = "https://acme.service-now.com"
  timeout = "1 min"
  rate    = "10 per second"
}

rule "faults" {
  backend     = "servicenow"
  identity    = { ci = body.cmdb_ci, kind = body.category }
  ttl         = { default = 60 }
  window      = "1.5"
  update_rate = "6/min"
  resend      = -1
}
