# Request Tracker, mail by its gateway (rt-mailgate). The language is explained in
# servicenow/incident.hcl.
#
# Where the facts are from: Best Practical, RT's source of the mail gateway (the
# form, "ok" with the ticket, "not ok", "temporary failure"), and rt-mailgate,
# which a mail server runs again after a temporary failure.

match = {
  method = "POST"
  path   = "(?P<base>(/[^/]+)*?)/REST/1[.]0/NoAuth/mail-gateway"
  when   = body.message != null
}

# Every answer is a 200. A mail that is dropped is "ok" without a ticket.
success = {
  status = [200]
  when   = startswith(trimspace(text), "ok")
}

# A mail that answers another names the ticket that it was added to.
ticket = {
  id = regex("Ticket: *([0-9]+)", text)[0]
}

# Unsure: whether a temporary failure is always one before the ticket is there.
refused = startswith(trimspace(text), "not ok")

# Nothing of a mail can be changed: it may be signed.
token = {
  header = "Idempotency-Key"
}

memory = { kind = "none" }

witness = regex("(?im)^Subject: *([^\\r\\n]+)", body.message)[0]

# The gateway asks for no credential and reads no ticket, so there is no look-up,
# no read and no update.

# The parts of the form come in another order each time that the mail is handed
# in, so that retries need an identity. A mail has one:
#
#   identity = {
#     message_id = regex("(?im)^Message-ID:\\s*(<[^>\\s]+>)", body.message)[0]
#   }
#   scope = host # a mail is one by itself

# Retry mode, where a rule has no identity.
window = "10m"
