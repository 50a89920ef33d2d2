# oneticket serve, beside an Envoy that you run yourself.
state_dir = "/var/lib/oneticket"

# The group is that of the user of Envoy (101 in the official image); the user
# of oneticket has to be a member of it.
socket = "unix:/run/oneticket/filter.sock?mode=0660&group=101"

backend "servicenow" {
  url = "https://acme.service-now.com"
}

rule "network_faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"

  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
}

# What envoy.yaml has. "oneticket doctor" finds out whether it is true.
envoy {
  message_timeout     = "8s"
  max_message_timeout = "60s"
  retries             = "safe"
}
