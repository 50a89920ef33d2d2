backend "desk" {
  url = "https://desk.example.test"
}

rule "r" {
  backend  = "desk"
  identity = { host = body.host, check = body.check }
  ticket   = { id = native }
}
