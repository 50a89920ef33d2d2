store "redis" {
  url = env("REDIS_URL")
}

backend "servicenow" {
  url    = env("SECRET")
  listen = env("SECRET")
}

rule "faults" {
  backend  = "servicenow"
  identity = { site = env("SITE"), ci = body.cmdb_ci }
}
