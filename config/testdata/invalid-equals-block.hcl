backend "servicenow" = {
  url = "https://acme.service-now.com"
}

limits = {
  max_body = "1MiB"
}
