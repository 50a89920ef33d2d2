package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"oneticket/dedup"
	"oneticket/extproc"
)

func TestCredentialsOfTheConfigurationAreSentInTheirPlaces(t *testing.T) {
	var target, authorization string
	desk := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		target, authorization = r.RequestURI, r.Header.Get("Authorization")
	}))
	defer desk.Close()
	calls := extproc.NewCaller(nil)
	defer calls.Close()
	calls.Use([]extproc.Outlet{{Backend: "desk", Via: desk.URL}})
	for _, c := range []struct {
		path          string
		credentials   map[string]string
		target, wants string
	}{
		{"/count?x=1", map[string]string{"Authorization": "Bearer T", "query.api key": "a&b", "body.token": "c"}, "/count?x=1&api+key=a%26b", "Bearer T"},
		{"/count", map[string]string{"query.key": "K"}, "/count?key=K", ""},
		{"/count?key=own", map[string]string{"query.key": "K"}, "/count?key=own", ""},
	} {
		as := credentialsOf(c.credentials)
		if r := calls.Call(t.Context(), "desk", dedup.Call{Method: "GET", Path: c.path}, as); r.Err != nil {
			t.Fatal(r.Err)
		}
		if target != c.target || authorization != c.wants {
			t.Errorf("%s: sent to %s with %q, want %s with %q", c.path, target, authorization, c.target, c.wants)
		}
	}
}
