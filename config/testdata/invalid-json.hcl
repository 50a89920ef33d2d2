{"backend": {"servicenow": {"url": "https://acme.service-now.com"}}}
