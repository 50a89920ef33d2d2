package config

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// longestSocket is what the kernel takes as the path of a UNIX socket.
const longestSocket = 107

// checkSocket holds socket against its two forms.
func (l *loader) checkSocket(top layers) {
	text := top.text("socket")
	path, unix := strings.CutPrefix(text, "unix:")
	switch {
	case text == "":
	case unix:
		l.checkUnixSocket(top, path)
	case strings.Contains(text, "/"):
		v, _ := top.get("socket")
		l.fail(top.at("socket"), "socket has no form", sentence("found "+shown(v)+`; a UNIX socket is written "unix:/path", with ?mode=0660&group=N if need be`))
	default:
		if _, _, ok := l.checkAddress(top, "socket"); ok {
			l.checkSocketTLS(top)
		}
	}
}

// checkSocketTLS: both ends of a socket that others can reach show who they are.
func (l *loader) checkSocketTLS(top layers) {
	files := top.table("tls")
	if len(files) == 0 {
		l.fail(top.at("socket"), "socket is HOST:PORT without tls", "Whoever reaches it could decide on creates. Set tls = { cert = ..., key = ..., ca = ... }, or use unix:PATH.")
		return
	}
	for _, name := range []string{"cert", "key", "ca"} {
		if files[name] == "" {
			l.fail(top.at("tls"), "tls has no "+name, "A socket that is HOST:PORT takes cert and key of the filter's own certificate, and ca, the certificates that sign the proxy's.")
		}
	}
}

// UnixSocket reads a socket setting "unix:PATH?mode=0660&group=N"; ok is false
// for one of another form. Without mode it is 0600; group is -1 where none is
// given.
func UnixSocket(setting string) (path string, mode os.FileMode, group int, ok bool) {
	rest, ok := strings.CutPrefix(setting, "unix:")
	if !ok {
		return "", 0, 0, false
	}
	path, query, _ := strings.Cut(rest, "?")
	mode, group = 0o600, -1
	parameters, _ := url.ParseQuery(query) // was checked
	if n, err := strconv.ParseUint(parameters.Get("mode"), 8, 32); err == nil {
		mode = os.FileMode(n)
	}
	if n, err := strconv.ParseUint(parameters.Get("group"), 10, 31); err == nil {
		group = int(n)
	}
	return path, mode, group, true
}

func (l *loader) checkUnixSocket(top layers, text string) {
	at := top.at("socket")
	path, query, _ := strings.Cut(text, "?")
	if path == "" || strings.HasSuffix(path, "/") {
		l.fail(at, "socket names no file", `Write "unix:/run/oneticket/filter.sock".`)
	}
	if absolute, err := filepath.Abs(beside(at.Filename, path)); err == nil && len(absolute) > longestSocket {
		l.fail(at, "the path of the socket is too long", fmt.Sprintf("Found %d bytes; allowed are %d.", len(absolute), longestSocket))
	}
	parameters, err := url.ParseQuery(query)
	if err != nil {
		l.fail(at, "bad parameters of the socket", "Allowed is ?mode=0660&group=N.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		given := parameters[name][0]
		switch mode, err := strconv.ParseUint(given, 8, 32); {
		case name == "mode" && (err != nil || mode > 0o777 || mode&0o600 != 0o600):
			l.fail(at, "the mode of the socket cannot be this", fmt.Sprintf("Found %q; allowed is an octal number such as 0660 by which its owner reads and writes.", given))
		case name == "group":
			if _, err := strconv.ParseUint(given, 10, 31); err != nil {
				l.fail(at, "the group of the socket is a number", fmt.Sprintf("Found %q; allowed is the number of a group (see getent group).", given))
			}
		case name != "mode":
			l.fail(at, fmt.Sprintf("unknown parameter %q of the socket", name), "Allowed are mode and group."+nearest(name, []string{"mode", "group"}))
		}
	}
}
