# A GraphQL incident API.
backend "gql" {
  preset = "generic/json"
}

rule "gql" {
  backend = "gql"
  preset  = "generic/json"

  match = {
    method = "POST"
    path   = "/api/graphql"
    when   = contains(graphql(body).fields, "raiseIncident")
  }
  identity = {
    resource = body.variables.input.resourceUrn
    kind     = body.variables.input.kind
  }
  fingerprint = {
    severity = body.variables.input.priority
  }
  # A mutation that made nothing is answered with 200 and errors.
  refused = body.errors != null && body.data.raiseIncident == null
  ticket = {
    id = body.data.raiseIncident
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
