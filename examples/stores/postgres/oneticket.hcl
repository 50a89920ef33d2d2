# Replicas on several machines share the records in PostgreSQL.
store "postgres" {
  url     = env("DATABASE_URL") # postgres://oneticket:PASSWORD@db1,db2/oneticket?sslmode=verify-full&sslrootcert=/etc/ssl/db-ca.pem
  timeout = "250ms"
}

backend "servicenow" {
  url    = "https://acme.service-now.com"
  listen = "127.0.0.1:8081"
}

rule "network_faults" {
  backend = "servicenow"
  preset  = "servicenow/incident"

  identity = {
    element_id  = lower(body.cmdb_ci)
    fault_class = body.category
  }
}
