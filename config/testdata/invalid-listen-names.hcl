backend "a" {
  url    = "https://a.example.com"
  listen = "localhost:8081"
}

backend "b" {
  url    = "https://b.example.com"
  listen = ":8082"
}

backend "c" {
  url    = "https://c.example.com"
  listen = "http://127.0.0.1:8083/"
}

backend "d" {
  url    = "https://d.example.com"
  listen = "127.0.0.1:http"
}

backend "e" {
  url    = "https://e.example.com"
  listen = "127.0.0.1:80800"
}

backend "f" {
  url    = "https://f.example.com"
  listen = "::1"
}
