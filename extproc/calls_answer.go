package extproc

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"oneticket/dedup"
	"oneticket/extproc/body"
)

// answerOf reads a whole answer; plain is its body without its content coding.
// With an error it has what came before.
func answerOf(response *http.Response, limit int64) (answer dedup.Answer, plain []byte, err error) {
	answer.Status = response.StatusCode
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		for _, value := range response.Header[name] {
			answer.Header = append(answer.Header, dedup.HeaderField{Name: strings.ToLower(name), Value: value})
		}
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return answer, nil, err
	case int64(len(raw)) > limit:
		return answer, nil, ErrAnswerTooLarge
	case len(raw) == 0:
		return answer, nil, nil
	}
	b, err := body.Decode(raw, response.Header.Get("content-type"), response.Header.Get("content-encoding"), body.Limits{Size: limit, Budget: answerBudget})
	if err != nil {
		return answer, nil, err
	}
	answer.Raw = b.Text
	answer.Body, _ = b.Value(nil) // an answer that is no JSON has its status, header and text
	return answer, b.Plain, nil
}
