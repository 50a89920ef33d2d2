backend "a" {
  url = "https://bot:hunter2@acme.service-now.com"
}

backend "b" {
  url = "https://acme.service-now.com/?sysparm_display_value=all"
}

backend "c" {
  url = "https://acme.service-now.com/#top"
}

backend "d" {
  url = "ftp://acme.service-now.com"
}

backend "e" {
  url = "https://"
}

backend "f" {
  url = "https://acme.service-now.com:99999"
}

backend "g" {
  url = " https://acme.service-now.com"
}

backend "h" {
  url = "acme.service-now.com:443"
}

backend "oneticket" {
  url   = "https://acme.service-now.com"
  hosts = ["https://acme.service-now.com", "a.*.example.com"]
}
