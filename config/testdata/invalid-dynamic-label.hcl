backend "${env("NAME")}" {
  url = "https://acme.service-now.com"
}
