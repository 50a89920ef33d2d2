package admin

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// guarded keeps pages of others in somebody's browser from asking: those of
// another origin change nothing, and one whose name was made to lead to this
// machine reads nothing either, dead letters least of all.
func guarded(next http.Handler) http.Handler {
	next = http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if onLoopback(r) && !namesThisMachine(r.Host) && !forAnyName(r.URL.Path) {
			http.Error(w, "ask by the address, or as localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// forAnyName reports whether the path is asked for by programs, perhaps by way
// of a proxy that keeps the name, and tells a page nothing: a close needs its
// secret.
func forAnyName(path string) bool {
	return slices.Contains([]string{"/v1/close", "/metrics", "/live", "/ready"}, path)
}

func onLoopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return local != nil && local.IP.IsLoopback()
}

// namesThisMachine reports whether the name of a request is an address, or
// leads to this machine whatever a name server says.
func namesThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	return host == "" || net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost")
}
