package body

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"oneticket/dedup"
)

// A coding is a content coding that we can undo and do again.
type coding uint8

const (
	identity  coding = iota
	gzipped          // gzip, x-gzip
	zlibbed          // deflate, as RFC 9110 has it
	rawFlated        // deflate without the zlib frame, as some clients have it
	brotlied         // br
	zstandard        // zstd
)

// inflateStep is how much is inflated between two looks at the clock.
const inflateStep = 64 << 10

// zstdWindow is what RFC 9659 allows a zstd body to make its reader remember.
const zstdWindow = 8 << 20

// inflate undoes the content coding of the body.
func (b *Body) inflate(contentEncoding string, limits Limits) error {
	c, known := codingOf(contentEncoding, b.Plain)
	if !known {
		return unkeyed(dedup.WhyCoding)
	}
	if c == identity {
		return nil
	}
	reader, err := c.reader(b.Plain)
	if err != nil {
		return unkeyed(dedup.WhyCoding)
	}
	defer reader.Close()
	plain, err := readBounded(reader, limits.Size, &b.budget)
	if err != nil {
		return err
	}
	b.Plain, b.coding = plain, c
	return nil
}

// codingOf tells the coding from the header, and the two kinds of deflate from
// the bytes.
func codingOf(contentEncoding string, raw []byte) (coding, bool) {
	switch strings.ToLower(strings.TrimSpace(contentEncoding)) {
	case "", "identity":
		return identity, true
	case "gzip", "x-gzip":
		return gzipped, true
	case "deflate":
		if len(raw) >= 2 && raw[0]&0x0f == 8 && (uint(raw[0])<<8|uint(raw[1]))%31 == 0 {
			return zlibbed, true
		}
		return rawFlated, true
	case "br":
		return brotlied, true
	case "zstd":
		return zstandard, true
	default:
		return identity, false
	}
}

func (c coding) reader(raw []byte) (io.ReadCloser, error) {
	from := bytes.NewReader(raw)
	switch c {
	case gzipped:
		return gzip.NewReader(from)
	case zlibbed:
		return zlib.NewReader(from)
	case brotlied:
		return io.NopCloser(brotli.NewReader(from)), nil
	case zstandard:
		d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	default:
		return flate.NewReader(from), nil
	}
}

// readBounded reads all, but never more than the limit and never for longer
// than the budget.
func readBounded(r io.Reader, size int64, within *budget) ([]byte, error) {
	var plain bytes.Buffer
	for {
		n, err := io.CopyN(&plain, r, inflateStep)
		switch {
		case int64(plain.Len()) > size:
			return nil, unkeyed(dedup.WhyTooLarge)
		case err == io.EOF:
			return plain.Bytes(), nil
		case err != nil:
			return nil, unkeyed(dedup.WhyCoding)
		case n == inflateStep && !within.spend(budgetSteps):
			return nil, unkeyed(dedup.WhyBudget)
		}
	}
}

// deflate does the coding again.
func (c coding) deflate(plain []byte) ([]byte, error) {
	if c == identity {
		return plain, nil
	}
	var out bytes.Buffer
	w, err := c.writer(&out)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (c coding) writer(to io.Writer) (io.WriteCloser, error) {
	switch c {
	case gzipped:
		return gzip.NewWriter(to), nil
	case zlibbed:
		return zlib.NewWriter(to), nil
	case brotlied:
		return brotli.NewWriterLevel(to, brotli.BestSpeed), nil
	case zstandard:
		return zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedFastest))
	default:
		return flate.NewWriter(to, flate.DefaultCompression)
	}
}
