backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "faults" {
  backend  = "servicenow"
  identity = {
    host = regex("^([a-z]+", body.host)
    ci   = replace(body.cmdb_ci, "/\\.(?!local)/", "")
    name = try(regexall("a**", body.name), "none")
    kind = regex("(\\w)\\1", body.kind)
    more = regex("[z-a]\"x", body.more)
  }
  match = {
    path    = "/api/now)/table"
    headers = { user-agent = "bot/[0-9" }
  }
  exists = { match = "\\p{Nonsense}" }
}
