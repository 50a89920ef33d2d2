# The configuration of the demo. Addresses and the folder come from the
# environment, because the demo picks free ones; in a real one you write them.

state_dir = env("STATE_DIR")
admin     = env("ADMIN")

# The ticket system. Legacy automation is pointed at `listen` and notices no
# difference.
backend "servicenow" {
  url    = env("TICKETS_URL")
  listen = env("LISTEN")
}

# One ticket per fault. The identity says which fault it is; nothing else of
# the request does, so a new title or time of day makes no new ticket.
rule "network_faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"

  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
  fingerprint = {
    severity = severity(body.urgency)
    cleared  = body.state == "6"
  }
  class = body.u_tier
  ttl   = { default = "1h", access = "10m", core = "6h" }
}

# Another ticket system, whose rule is on trial: it decides and counts, and
# touches nothing.
backend "trial" {
  url    = env("TRIAL_TICKETS_URL")
  listen = env("LISTEN_TRIAL")
  preset = "servicenow"
}

rule "trial" {
  backend = "trial"
  preset  = "servicenow/incident"
  action  = "observe"

  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
}
