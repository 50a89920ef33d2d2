backend "desk" {
  url    = "https://desk.example.com"
  listen = "127.0.0.1:8081"
}

rule "faults" {
  backend      = "desk"
  identity     = { ci = body.cmdb_ci, kind = body.category }
  max_age      = "0"
  verify_every = "1m"
}
