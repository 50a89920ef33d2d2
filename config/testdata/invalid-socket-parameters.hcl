socket = "unix:/run/oneticket.sock?mode=999&group=envoy&own=me"

backend "servicenow" {
  url = "https://acme.service-now.com"
}
