# A SOAP 1.1 help desk.
backend "soap" {
  preset = "generic/json"
}

rule "soap" {
  backend = "soap"
  preset  = "generic/json"

  match = {
    method = "POST"
    path   = "/services/HelpDesk"
    when   = contains(["urn:HelpDesk/Create", "\"urn:HelpDesk/Create\""], headers["soapaction"])
  }
  identity = {
    item  = xml(body, "{urn:example:helpdesk}Create/{urn:example:helpdesk}Item")
    fault = xml(body, "{urn:example:helpdesk}Create/{urn:example:helpdesk}Fault")
  }
  fingerprint = {
    severity = xml(body, "{urn:example:helpdesk}Create/{urn:example:helpdesk}Impact")
  }
  # A SOAP Fault inside 200: nothing was made.
  refused = xml(body, "{http://schemas.xmlsoap.org/soap/envelope/}Fault") != null
  ticket = {
    id = xml(body, "{urn:example:helpdesk}CreateResponse/{urn:example:helpdesk}IncidentNumber")
  }

  ttl          = "24h"
  max_age      = "0"
  verify_every = "0"
  settle       = "5s"
  heal_within  = "0"
  resend       = 0
}

in_flight {
  wait = "5s"
}
