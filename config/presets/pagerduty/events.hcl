# PagerDuty, Events API v2. The language is explained in servicenow/incident.hcl.
#
# Where the facts are from: PagerDuty, "Events API v2" (the three actions,
# dedup_key, 202 and the key in the answer, 429), as its published schema and
# clients show them. Version 1 of the API has a preset of its own,
# pagerduty/events_v1; incidents by the REST API are pagerduty/incidents.

default = true # a backend or preset that is named "pagerduty" alone

# An acknowledgement passes. clears: such an event is over a fault; a rule
# without an identity leaves it alone, and sees that it closes, see resolve.
match = {
  method = "POST"
  path   = "/v2/enqueue"
  when   = contains(["trigger", "resolve"], body.event_action)
  clears = body.event_action == "resolve"
}

# An event is taken, not yet an incident; what names it from then on is the key.
success = {
  status = [200, 202]
  when   = body.status == "success"
}

ticket = {
  id = body.dedup_key
}

# A client's own key stays, and is the token. Where there is none PagerDuty makes
# one for each event, so that a retry is a second incident: there ours is set.
# volatile = true in a rule: the client's is another one on every try, and ours
# takes its place.
token = {
  header = "Idempotency-Key"
  field  = "dedup_key"
  max    = 255
}

# An event with the key of an open incident is added to its log; after that is
# resolved, it opens another.
memory    = { kind = "folds" }
on_refire = "forward" # the log and its timers live on repeats

# Services are kept apart by their routing key, and no key is kept.
scope = "${host} ${substr(sha256(coalesce(body.routing_key, headers.x-routing-key)), 0, 32)}"

# Used where a rule has an identity.
severity = {
  critical = ["critical"]
  major    = ["error"]
  minor    = ["warning"]
  info     = ["info"]
}

fingerprint = {
  severity = severity(body.payload.severity)
  cleared  = body.event_action == "resolve"
}

witness = body.payload.summary

# The same event again, with the key of the incident, is how its severity is
# changed. It is the client's event, not only the severity, since its fields take
# the place of the alert's (unsure: what becomes of those that are left out).
update = {
  method  = "POST"
  path    = "/v2/enqueue"
  success = [200, 202]
  when    = body.status == "success"
  body = {
    routing_key  = body.routing_key
    event_action = "trigger"
    dedup_key    = ticket.id
    payload      = body.payload
    client       = body.client
    client_url   = body.client_url
    links        = body.links
    images       = body.images
  }
}

clear = {
  success = [200, 202]
  when    = body.status == "success"
  closes  = true
  body = {
    routing_key  = body.routing_key
    event_action = "resolve"
    dedup_key    = ticket.id
  }
}

# A resolve names the incident by its key. One of a fault that a rule keeps is
# sent by ourselves; all others pass, and close what has that key.
resolve = [
  {
    method = "POST"
    path   = "/v2/enqueue"
    id     = body.dedup_key
    when   = body.event_action == "resolve" && answer.body.status == "success"
  },
]

# An events key reads nothing, so there is no look-up and no read: an answer that
# was lost is asked for by sending the event again, which the key makes safe.

credential = {
  headers = ["x-routing-key"]
  body    = ["routing_key"]
}
principal = coalesce(body.routing_key, headers.x-routing-key)

# Unsure: the largest event. Over it PagerDuty answers 413, which makes nothing.

# For one incident a fault where clients set no dedup_key, a rule has an
# identity. Resolves are seen by it too, so a client's own key goes first:
#
#   identity = {
#     fault = try(body.dedup_key, join(": ", [body.payload.source, replace(body.payload.summary, "/^\\[[A-Z]+(:[0-9]+)?\\] */", "")]))
#   }
#
# A client whose key is another one on every try (a clock, a random text) needs
# an identity without it, and gets our key in its place, so that its events fold:
#
#   token = { volatile = true }
#
# Without an identity such a client needs a key that leaves it out:
#
#   key = request_key({ ignore = ["dedup_key"] })
#
# Without an identity, an event without a key folds into the incident of the very
# same event for as long as that is open, not for the window alone.

# Retry mode, where a rule has no identity.
window = "10m"
