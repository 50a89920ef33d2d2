# The configuration of oneticket. "oneticket validate" checks it, "oneticket fmt"
# puts it in form, "oneticket run" runs it. All settings, with their defaults and
# dangers: config/REFERENCE.md of the sources.

# Where keys are kept. The default is an embedded store, one file in state_dir,
# which has to outlive restarts.
# state_dir = "/var/lib/oneticket"

# ServiceNow, incidents by the Table API.
backend "servicenow" {
  url    = env("SERVICENOW_URL") # or the address itself: "https://..."
  preset = "servicenow/incident"
  listen = "127.0.0.1:8081" # the automation sends to this address instead
}

# As it stands, a backend is guarded against retries: the same request within ten
# minutes is the same create. One ticket for one fault takes a rule, and an
# identity: the fields that say which fault. A field too many costs a duplicate,
# a field too few merges two faults. Leave out titles, times, counters and event
# ids. "observe" decides and counts, and does nothing; when the metrics show what
# you expect, take the line out.
#
# rule "servicenow_faults" {
#   backend = "servicenow"
#   identity = {
#     element_id  = lower(body.cmdb_ci)
#     fault_class = body.category
#   }
#   ttl    = "1h" # longer than the gap between two re-fires of a fault
#   action = "observe"
# }

# Any API that takes JSON by POST and answers with the new ticket's id.
backend "generic" {
  url    = env("GENERIC_URL") # or the address itself: "https://..."
  preset = "generic/json"
  listen = "127.0.0.1:8082" # the automation sends to this address instead
}

# One ticket for one fault, as above:
#
# rule "generic_faults" {
#   backend = "generic"
#   identity = {
#     element = lower(body.host)
#     kind    = body.check
#   }
#   ttl    = "1h" # longer than the gap between two re-fires of a fault
#   action = "observe"
# }
