backend "servicenow" {
  url = <<EOT
https://acme.service-now.com
}
