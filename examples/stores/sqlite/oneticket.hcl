# Processes of one machine share the records in a file.
store "sqlite" {
  path = "/var/lib/oneticket/oneticket.db"
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
