# Replicas on several machines share the records in Redis.
store "redis" {
  url     = env("REDIS_URL") # rediss://oneticket:PASSWORD@redis.example.com:6379
  timeout = "250ms"
}

backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "network_faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"

  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
}
