backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "titles" {
  backend = "servicenow"
  match   = { path = "/a" }
  identity = {
    ci    = body.cmdb_ci
    title = lower(body.event.short_description)
  }
}

rule "times" {
  backend = "servicenow"
  match   = { path = "/b" }
  identity = {
    ci    = body.cmdb_ci
    since = coalesce(body.alerts[0].startsAt, body.start_time)
  }
}

rule "a_part_of_the_title" {
  backend = "servicenow"
  match   = { path = "/c" }
  identity = {
    ci    = body.cmdb_ci
    check = regex("^[A-Z_]+", body.short_description)
  }
}
