package recordjson

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Most of a record is the ticket system's answer, and most of that is names of
// fields: an answer of squeezeFrom bytes or more is kept compressed, where that
// saves an eighth of it or more. Smaller ones are not worth the time of every
// repeat that is answered from them.
const squeezeFrom = 1 << 10

const zstdCoding = "zstd"

// The encoder and the decoder are made for many callers at a time; with one
// worker each they start no goroutine.
var (
	squeezer, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	expander, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBody))
)

// maxBody bounds what a body may become again, far beyond any max_response.
const maxBody = 256 << 20

// squeeze returns the body as it is kept, and the coding of that: empty when
// it is the body itself.
func squeeze(body []byte) (kept []byte, coding string) {
	if len(body) < squeezeFrom {
		return body, ""
	}
	small := squeezer.EncodeAll(body, make([]byte, 0, len(body)/2))
	if len(small) > len(body)-len(body)/8 {
		return body, ""
	}
	return small, zstdCoding
}

// expand is the inverse of squeeze.
func expand(kept []byte, coding string) ([]byte, error) {
	switch coding {
	case "":
		return kept, nil
	case zstdCoding:
		body, err := expander.DecodeAll(kept, nil)
		if err == nil && len(body) == 0 {
			err = io.ErrUnexpectedEOF // only long ones were compressed
		}
		if err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
		return body, nil
	default:
		return nil, fmt.Errorf("body: coding %q is not known", coding)
	}
}
