# oneticket serve, as a container in the pod of the automation, beside the
# istio-proxy of that pod.
state_dir = "/run/oneticket"

# 1337 is the group of istio-proxy.
socket = "unix:/run/oneticket/filter.sock?mode=0660&group=1337"

# A pod comes and goes; what is known of open tickets must not go with it.
store "redis" {
  url = "redis://redis.oneticket.svc.cluster.local:6379"
}

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

# What istio.yaml has.
envoy {
  message_timeout     = "8s"
  max_message_timeout = "60s"
  retries             = "safe"
}
