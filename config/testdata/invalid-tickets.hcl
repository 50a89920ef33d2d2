backend "desk" {
  url = "https://desk.example.com"
}

rule "a" {
  backend = "desk"
  ticket  = "nothing"
}

rule "b" {
  backend = "desk"
  ticket  = { ident = body.id, location = headers.location }
  success = { status = ["2xx", "20x", 700], when = body.ok }
  exists  = { status = "conflict" }
}

rule "c" {
  backend = "desk"
  token   = { header = ["X-Key"], max = "many", volatile = "perhaps" }
  memory  = { kind = "remember", for = "2 hours" }
}
