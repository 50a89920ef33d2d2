# PagerDuty, Events API v1: the event of older agents. The language is explained
# in servicenow/incident.hcl.
#
# Where the facts are from: PagerDuty, "Events API v1" (event types, incident_key,
# 200 and the key in the answer, 403 for too many events), as its published
# schema shows them. What is the same as in version 2 is explained in events.hcl.

match = {
  method = "POST"
  path   = "/generic/2010-04-15/create_event[.]json"
  when   = contains(["trigger", "resolve"], body.event_type)
  clears = body.event_type == "resolve"
}

# 403 is too many events: a refusal for now, and nothing is made.
success = {
  status = [200, 202]
  when   = body.status == "success"
}

ticket = {
  id = body.incident_key
}

token = {
  header = "Idempotency-Key"
  field  = "incident_key"
  max    = 255
}

memory    = { kind = "folds" }
on_refire = "forward"

scope = "${host} ${substr(sha256(body.service_key), 0, 32)}"

# An event of this version has no severity.
fingerprint = {
  cleared = body.event_type == "resolve"
}

witness = body.description

clear = {
  method  = "POST"
  path    = "/generic/2010-04-15/create_event.json"
  success = [200, 202]
  when    = body.status == "success"
  closes  = true
  body = {
    service_key  = body.service_key
    event_type   = "resolve"
    incident_key = ticket.id
  }
}

resolve = [
  {
    method = "POST"
    path   = "/generic/2010-04-15/create_event[.]json"
    id     = body.incident_key
    when   = body.event_type == "resolve" && answer.body.status == "success"
  },
]

credential = {
  body = ["service_key"]
}
principal = body.service_key

# For one incident a fault where clients set no incident_key:
#
#   identity = {
#     fault = try(body.incident_key, replace(body.description, "/^\\[[A-Z]+(:[0-9]+)?\\] */", ""))
#   }

# Retry mode, where a rule has no identity.
window = "10m"
