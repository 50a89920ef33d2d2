backend "desk" {
  url = "https://desk.example.test"
}

rule "r" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
  ticket   = { id = native }
}

rule "s" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
  token    = { field = "issue.custom_fields", form = "item" }
}

rule "t" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
  token    = { field = "issue.custom_fields", form = "item", item = { id = "7", name = "x" } }
}

rule "u" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
  resolve  = [{ method = "PUT", path = "/tickets/[0-9]+" }]
}

rule "v" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
  token    = { field = "issue.custom_fields", form = "item", item = "7" }
  read     = { path = "/tickets/${ticket.id}", query = "expand", open = body.open }
  match    = { method = "POST", path = "/tickets", headers = "x" }
}
