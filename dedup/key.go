package dedup

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A Key is "idem:" and the first 32 hex digits of the SHA-256 of a string: of
// a canonical form (KeyOf), or of what one of the key functions puts together.
// Only ClientKey also makes keys of another form.
type Key string

const (
	keyPrefix = "idem:"
	keyDigits = 32
)

// KeyOf returns the key of a canonical form. Any program can compute it:
// in Python, "idem:" + hashlib.sha256(canonical.encode()).hexdigest()[:32].
func KeyOf(canonical string) Key { return keyOf([]byte(canonical)) }

func keyOf(text []byte) Key {
	sum := sha256.Sum256(text)
	var key [len(keyPrefix) + keyDigits]byte
	hex.Encode(key[copy(key[:], keyPrefix):], sum[:keyDigits/2])
	return Key(key[:])
}

// JobKey is the key of a job of a type: of TYPE:DATA. Data that is a JSON
// object or list is written as Value.CanonicalJSON writes it, with every
// occurrence of a member that stands twice; all other data is taken as it is
// but for outer blanks, line ends and tabs. A JSON number alone is such other
// data: 1.10 may be a version. As in all keys, "%" and ":" in TYPE become %25
// and %3A, so that no type can pass for another with other data.
func JobKey(jobType string, data []byte) Key {
	text := append(appendPart(nil, jobType), ':')
	return keyOf(appendBody(text, data, nil, nil))
}

// WebhookKey is the key of one delivery of a webhook: of webhook:TYPE:ID. ID is
// identity text; without one there is no key (false).
func WebhookKey(webhookType, id string) (Key, bool) {
	id, ok := TextOf(id)
	if !ok {
		return "", false
	}
	text := append(appendPart([]byte("webhook:"), webhookType), ':')
	return keyOf(append(text, id...)), true
}

var partEscaper = strings.NewReplacer("%", "%25", ":", "%3A")

// appendPart appends one part of what is joined by ":". Only the last part of
// a joined string may hold one itself.
func appendPart(to []byte, part string) []byte {
	return append(to, partEscaper.Replace(part)...)
}
