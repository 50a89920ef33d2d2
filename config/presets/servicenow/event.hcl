# ServiceNow, events of Event Management by em/jsonv2. The language is explained
# in incident.hcl.
#
# Where the facts are from: ServiceNow, "Send events via web service" (paths, the
# list of records, message_key and what stands in for it, severity 0). Unsure:
# what the answer says of each record, so that none is read in it.

# Several events in one call are not told apart: such a call passes, for the
# instance folds them. /em_event.do takes one event without a list. clears: an
# event of severity 0 is over a fault; a rule without an identity leaves it alone.
match = {
  method = "POST"
  path   = "/api/global/em/jsonv2|/em_event[.]do"
  when   = body.records == null ? body.source != null : length(body.records) == 1
  clears = coalesce(body.records[0].severity, body.severity, "1") == "0" || lower(coalesce(body.records[0].resolution_state, body.resolution_state, "New")) == "closing"
}

# A hibernating instance answers 200 with a page of HTML.
success = {
  status = ["2xx"]
  when   = !can(regex("(?i)<html|<!doctype", text))
}

ticket = "none"

# An event without a message_key gets one of source, node, type, resource and
# metric_name, which is a good one: none is added. Where a client's message_key is
# another one on every try, nothing folds, and the source's own settings are the
# place to mend it.
token = {
  header = "Idempotency-Key"
}

# An event with the key of an open alert is added to it, and changes its severity,
# or clears it: events are sent on, whatever they say.
memory    = { kind = "folds" }
on_refire = "forward" # the alert's count and its timers live on repeats
on_update = "forward"

# Used where a rule has an identity.
severity = {
  critical = ["1"]
  major    = ["2"]
  minor    = ["3", "4"]
  info     = ["5", "0"]
}

fingerprint = {
  severity = severity(coalesce(body.records[0].severity, body.severity))
  cleared  = coalesce(body.records[0].severity, body.severity, "1") == "0" || lower(coalesce(body.records[0].resolution_state, body.resolution_state, "New")) == "closing"
}

witness = coalesce(body.records[0].description, body.description)

credential = {
  headers = ["x-sn-apikey", "x-usertoken"]
}
principal = headers.x-sn-apikey

# An identity counts faults here and folds nothing that the instance does not:
#
#   identity = {
#     fault = try(body.records[0].message_key, body.message_key, join("|", [for f in ["source", "node", "type", "resource", "metric_name"] : coalesce(lookup(body.records[0], f, ""), "-")]))
#   }
#   scope = host # a message_key names one fault by itself

# Retry mode, where a rule has no identity.
window = "10m"
