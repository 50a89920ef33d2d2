socket = "unix:/run/a-very-long-name-of-a-folder/another-very-long-name-of-a-folder/and-one-more-for-good-measure/filter.sock"

backend "servicenow" {
  url = "https://acme.service-now.com"
}
