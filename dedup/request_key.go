package dedup

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// RequestParts is what a RequestKey is made of.
type RequestParts struct {
	Method string
	Path   string // percent-decoded, without the query
	Body   []byte // decoded from its content coding
}

// RequestKeyOptions say what in a request does not matter to its key. The zero
// value takes it as it is.
//
// A path is the names of members joined by "."; it leads through lists by
// itself (alerts.startsAt is that member of every alert), and a name that has
// a "." of its own is met as well. A path that leads nowhere is no mistake.
type RequestKeyOptions struct {
	Ignore    []string  // paths of members to leave out; one forgotten costs a duplicate, never an incident
	Unordered []string  // paths of lists whose order says nothing (lists in them keep theirs); "" is the body itself
	Bucket    int       // minutes; equal requests of different buckets have different keys. 0 = for ever
	Now       time.Time // which bucket it is; used only with a Bucket
}

// RequestKey is the key of a request that names no fault: of
// METHOD:PATH:BODY, or METHOD:PATH:BODY:BUCKET with a bucket.
//
// "%" and ":" in PATH become %25 and %3A. BODY, when it is a JSON object or
// list, is written as Value.CanonicalJSON writes it, less what the options
// leave out, and with every occurrence of a member that stands twice. Any
// other body is taken byte for byte, but for outer blanks, line ends and tabs;
// it can not have the key of a JSON body, since what that is written as is
// always JSON. BUCKET is the number of whole buckets since 1970.
func RequestKey(parts RequestParts, options RequestKeyOptions) Key {
	return keyOf(requestText(parts, options))
}

func requestText(parts RequestParts, options RequestKeyOptions) []byte {
	text := make([]byte, 0, len(parts.Method)+len(parts.Path)+len(parts.Body)+len("::")+32)
	text = append(appendPart(text, parts.Method), ':')
	text = append(appendPart(text, parts.Path), ':')
	text = appendBody(text, parts.Body, options.Ignore, options.Unordered)
	if options.Bucket > 0 {
		text = append(text, ':')
		text = strconv.AppendInt(text, bucketNumber(options.Now, options.Bucket), 10)
	}
	return text
}

// bucketNumber counts whole buckets; before 1970 it counts down.
func bucketNumber(now time.Time, minutes int) int64 {
	size := int64(minutes) * 60
	seconds := now.Unix()
	bucket := seconds / size
	if seconds%size < 0 {
		bucket--
	}
	return bucket
}

// appendBody appends a body as request_key and job_key hash it.
func appendBody(to, body []byte, ignore, unordered []string) []byte {
	body = bytes.Trim(body, " \t\r\n")
	v, err := readWholeJSON(body)
	if err != nil || v.Kind != ObjectValue && v.Kind != ListValue {
		return append(to, body...)
	}
	w := jsonWriter{text: to}
	w.value(v, ignore, unordered)
	return w.text
}

// pathsBelow returns the paths as they go on from the member with the name; one
// that ends there goes on with "". Each way in which names with a "." of their
// own can make up a path is met.
func pathsBelow(paths []string, name string) []string {
	var rest []string
	for _, path := range paths {
		after, found := strings.CutPrefix(path, name)
		switch {
		case !found || path == "":
		case after == "":
			rest = append(rest, "")
		case after[0] == '.':
			rest = append(rest, after[1:])
		}
	}
	return rest
}
