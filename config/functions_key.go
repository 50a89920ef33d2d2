package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"oneticket/dedup"
)

const clientKeyName = "client_key"

// keyFunctions make the key of a rule's `key`. The last argument is the input.
func keyFunctions() map[string]builtin {
	return map[string]builtin{
		"request_key": {fn: looseVar(0, requestKey), max: 1, hidden: withInput},
		"job_key":     {fn: looseVar(0, jobKey), min: 2, max: 2, hidden: withInput},
		"webhook_key": {fn: looseVar(0, twoTexts("webhook_key", func(a, b string) (dedup.Key, bool) { return dedup.WebhookKey(a, b) })),
			min: 2, max: 2, hidden: withInput},
		clientKeyName: {fn: looseVar(0, twoTexts(clientKeyName, func(value, namespace string) (dedup.Key, bool) {
			return dedup.ClientKey(value, namespace)
		})), min: 2, max: 2, hidden: withInput},
	}
}

func inputOf(args []cty.Value) *input {
	return args[len(args)-1].EncapsulatedValue().(*input)
}

func twoTexts(name string, make func(a, b string) (dedup.Key, bool)) func([]cty.Value) (cty.Value, error) {
	return func(args []cty.Value) (cty.Value, error) {
		a, okA := asText(args[0])
		b, okB := asText(args[1])
		if !okA || !okB {
			return missing, nil
		}
		key, ok := make(a, b)
		if !ok {
			return missing, nil
		}
		inputOf(args).keyOf = name
		return cty.StringVal(string(key)), nil
	}
}

// jobKey takes its data as a text, or as an object, which is written as JSON.
func jobKey(args []cty.Value) (cty.Value, error) {
	jobType, ok := asText(args[0])
	data := args[1]
	if !ok || data.IsNull() {
		return missing, nil
	}
	if !data.Type().IsPrimitiveType() {
		var err error
		if data, err = stdlib.JSONEncode(data); err != nil {
			return missing, err
		}
	}
	text, _ := asText(data)
	inputOf(args).keyOf = "job_key"
	return cty.StringVal(string(dedup.JobKey(jobType, []byte(text)))), nil
}

func requestKey(args []cty.Value) (cty.Value, error) {
	in := inputOf(args)
	if in.request == nil {
		return missing, errors.New("request_key reads a request")
	}
	var options dedup.RequestKeyOptions
	if len(args) > 1 {
		var err error
		if options, err = requestKeyOptions(args[0]); err != nil {
			return missing, err
		}
	}
	key, ok := requestKeyOf(in.request, options)
	if !ok {
		return missing, nil
	}
	in.keyOf = "request_key"
	return cty.StringVal(string(key)), nil
}

// requestKeyOf is false for a request without a body: all of those on one path
// would be one.
func requestKeyOf(r *dedup.Request, options dedup.RequestKeyOptions) (dedup.Key, bool) {
	body := r.Raw
	if len(body) == 0 {
		text, ok := r.Body.CanonicalJSON()
		if !ok {
			return "", false
		}
		body = []byte(text)
	}
	return dedup.RequestKey(dedup.RequestParts{Method: r.Method, Path: r.Path, Body: body}, options), true
}

func requestKeyOptions(v cty.Value) (options dedup.RequestKeyOptions, err error) {
	if v.IsNull() {
		return options, nil
	}
	if !v.Type().IsObjectType() {
		return options, errors.New("the options of request_key are an object")
	}
	members := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		given := members[name]
		switch name {
		case "ignore":
			options.Ignore, err = texts(given)
		case "unordered":
			options.Unordered, err = texts(given)
		case "bucket":
			minutes, ok := int64Of(given)
			if !ok || minutes < 1 || minutes > 1440 {
				return options, fmt.Errorf("found the bucket %s; allowed is 1 to 1440, in minutes", bucketText(given))
			}
			options.Bucket, options.Now = int(minutes), time.Now()
		default:
			err = fmt.Errorf("request_key has no option %q: it takes ignore, unordered, bucket.%s", name, nearest(name, []string{"bucket", "ignore", "unordered"}))
		}
		if err != nil {
			return options, err
		}
	}
	return options, nil
}

func bucketText(v cty.Value) string {
	if text, ok := asText(v); ok {
		return text
	}
	return "that is no number"
}

func texts(list cty.Value) ([]string, error) {
	var out []string
	bad := errors.New("ignore and unordered are lists of paths")
	if list.IsNull() {
		return nil, bad
	}
	whole := true
	err := items(list, func(v cty.Value) bool {
		text, ok := asText(v)
		out, whole = append(out, text), ok
		return ok
	})
	if err != nil || !whole {
		return nil, bad
	}
	return out, nil
}
