package dataplane

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// What a dump may be. Those of large gateways have 3 kB and 140 keys and values for each route, and pack
// to a twentieth of their size.
const (
	MaxDumpBytes = 128 << 20 // unpacked
	maxValues    = 4_000_000 // keys and values
	maxDepth     = 100       // maps and lists inside each other
)

// unpackText returns the text of a dump that is packed, or not.
func unpackText(data []byte) ([]byte, error) {
	if !model.IsGzip(data) {
		if len(data) > MaxDumpBytes {
			return nil, fmt.Errorf("it is larger than %d MiB", MaxDumpBytes>>20)
		}
		return bytes.TrimPrefix(data, []byte("\ufeff")), nil
	}
	most := min(MaxDumpBytes, model.UnpackLimit(len(data)))
	size, err := copyUnpacked(io.Discard, data, most) // first, as a buffer that grows takes several times as much
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpacking: %w", err)
	case size > most && most == MaxDumpBytes:
		return nil, fmt.Errorf("it unpacks to more than %d MiB", MaxDumpBytes>>20)
	case size > most:
		return nil, fmt.Errorf("it unpacks to more than %d times its size", model.MaxUnpackFactor)
	}
	var out bytes.Buffer
	out.Grow(size)
	if _, err := copyUnpacked(&out, data, most); err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return bytes.TrimPrefix(out.Bytes(), []byte("\ufeff")), nil
}

// copyUnpacked writes what a packed text has, but for what is beyond one byte more than most.
func copyUnpacked(out io.Writer, packed []byte, most int) (size int, err error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(r, int64(most)+1))
	return int(n), err
}

// checkExtent refuses a JSON text that has too much in it, before it is read into memory: what it has
// is counted by its punctuation.
func checkExtent(text []byte) error {
	values, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := endOfText(text[i+1:])
			if end < 0 {
				return nil // which is no JSON
			}
			i += 1 + end
		case '{':
			depth++
			values += 2 // maps take more than lists
		case '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',', ':':
			values++
		}
		switch {
		case values > maxValues:
			return fmt.Errorf("it has more than %d keys and values", maxValues)
		case depth > maxDepth:
			return fmt.Errorf("it is nested deeper than %d", maxDepth)
		}
	}
	return nil
}

// endOfText finds the quote that ends a text; -1: there is none.
func endOfText(text []byte) int {
	for at := 0; ; {
		next := bytes.IndexAny(text[at:], `"\`)
		if next < 0 {
			return -1
		}
		if at += next; text[at] == '"' {
			return at
		}
		if at += 2; at > len(text) { // what is escaped
			return -1
		}
	}
}
