# Any API that takes JSON by POST and answers with the new ticket's id. It is
# what a backend gets of which nothing more is known. The language is explained
# in servicenow/incident.hcl.
#
# Where the facts are from: the answers of common ticket systems to a create,
# each as its vendor's API reference shows it.

# A POST without a JSON body is a login, an upload or a search more often than
# a create.
match = {
  method = "POST"
  when   = body != null
}

# Any 2xx that names a ticket.
success = {
  status = ["2xx"]
}

ticket = {
  id = coalesce(
    body.key, body.id, body.number, body.identifier,
    body.ticket.id, body.issue.id, body.incident.id, body.request.id,
    body.result.sys_id, body.result.id, body.result.number,
    body.data.id, body.data.key, body.issueKey,
    basename(headers.location),
  )
  location = headers.location
}

token = {
  header = "Idempotency-Key"
}

memory = { kind = "none" }

# Names only: the same number is the worst to one system and the least to the next.
severity = {
  critical = ["fatal", "emergency", "emerg", "disaster", "blocker", "highest", "urgent", "sev1", "p1"]
  major    = ["error", "err", "high", "alert", "severe", "sev2", "p2"]
  minor    = ["warning", "warn", "medium", "average", "normal", "moderate", "sev3", "p3"]
  info     = ["information", "informational", "low", "lowest", "notice", "trivial", "ok", "sev4", "p4", "p5"]
}

fingerprint = {
  severity = severity(coalesce(body.severity, body.priority, body.urgency))
}

witness = coalesce(body.title, body.summary, body.subject, body.short_description, body.name)

window = "10m"
