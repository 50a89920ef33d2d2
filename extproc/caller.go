package extproc

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
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
	parts := appendPart(make([]byte, 0, 512), h.method)
	parts = appendPart(appendPart(parts, h.authority), h.path)
	for _, f := range h.fields {
		if tellsCaller(f.Name) {
			parts = appendPart(appendPart(parts, f.Name), f.Value)
		}
	}
	mac := hmac.New(sha256.New, k[:])
	mac.Write(parts)
	mac.Write(raw)
	return string(mac.Sum(nil))
}

// appendPart appends the length first, so that parts cannot run together.
func appendPart(to []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(s))), s...)
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
