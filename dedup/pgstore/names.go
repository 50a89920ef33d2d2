package pgstore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"oneticket/dedup"
)

// idOf is the same for the same texts only. It stands for them in an index,
// whose entries have a bound.
func idOf(texts ...string) []byte {
	h := sha256.New()
	for _, text := range texts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		h.Write(length[:])
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}

// at is what a call on a record begins with: where its row is.
func at(ref dedup.Ref, more ...any) []any {
	return append([]any{armour(ref.Rule), idOf(ref.Scope, string(ref.Key))}, more...)
}

// named is at for calls that may make the row.
func named(ref dedup.Ref, more ...any) []any {
	return append(at(ref, armour(ref.Scope), armour(string(ref.Key))), more...)
}

// hexMark begins a text that PostgreSQL could not hold as it is: it takes only
// UTF-8, and no NUL.
const hexMark = `\x`

func armour(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") && !strings.HasPrefix(s, hexMark) {
		return s
	}
	return hexMark + hex.EncodeToString([]byte(s))
}

func bare(s string) string {
	coded, ok := strings.CutPrefix(s, hexMark)
	if !ok {
		return s
	}
	raw, err := hex.DecodeString(coded)
	if err != nil {
		return s
	}
	return string(raw)
}

// quoted is a name as SQL has it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
