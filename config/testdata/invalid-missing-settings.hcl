backend "servicenow" {
}

store "postgres" {
}

rule "faults" {
  identity = { ci = body.cmdb_ci }
}
