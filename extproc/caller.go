package extproc

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
)

// A callerKey makes the values by which two requests are known to have equal
// credentials and to ask for the same. It is random, and never leaves the
// process, so that the values tell nothing.
type callerKey [32]byte

func newCallerKey() (k callerKey) {
	rand.Read(k[:]) // never fails
	return k
}

// of is equal for requests that the backend cannot tell apart by what decides
// about a refusal: where they go, who sends them, and the body.
func (k callerKey) of(h *head, raw []byte) string {
	mac := hmac.New(sha256.New, k[:])
	for _, s := range []string{h.method, h.authority, h.path} {
		writePart(mac, s)
	}
	for _, f := range h.fields {
		if tellsCaller(f.Name) {
			writePart(mac, f.Name)
			writePart(mac, f.Value)
		}
	}
	mac.Write(raw)
	return string(mac.Sum(nil))
}

// writePart writes the length first, so that parts cannot run together.
func writePart(mac hash.Hash, s string) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(s)))
	mac.Write(length[:])
	mac.Write([]byte(s))
}

var callerParts = []string{"auth", "cookie", "token", "secret", "key", "session", "signature"}

func tellsCaller(name string) bool {
	switch name {
	case "content-type", "content-encoding", "accept":
		return true
	case "idempotency-key":
		return false // differs on every try of some clients, and names nobody
	}
	return slices.ContainsFunc(callerParts, func(part string) bool { return strings.Contains(name, part) })
}
