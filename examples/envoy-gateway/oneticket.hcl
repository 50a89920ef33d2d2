# oneticket serve, as a Deployment of its own, behind Envoy Gateway.
state_dir = "/var/lib/oneticket"
admin     = "0.0.0.0:9911" # the NetworkPolicy in oneticket.yaml says who reaches it

# Only a Gateway that shows a certificate signed by ca is let in.
socket = "0.0.0.0:9443"
tls = {
  cert = "/etc/oneticket/tls/tls.crt"
  key  = "/etc/oneticket/tls/tls.key"
  ca   = "/etc/oneticket/tls/ca.crt"
}

# Two replicas, one store.
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

# What gateway.yaml has: Envoy Gateway cannot be told of a max_message_timeout,
# so its message_timeout is as long as the longest wait.
envoy {
  message_timeout     = "30s"
  max_message_timeout = "0s"
  retries             = "safe"
}
