package model

import "bytes"

// IsGzip reports whether text is packed with gzip.
func IsGzip(text []byte) bool { return bytes.HasPrefix(text, []byte{0x1f, 0x8b}) }

// What a packed text may unpack to. Manifests, and dumps of clusters and proxies, pack to between a
// tenth and a fiftieth of their size.
const (
	MaxUnpackFactor = 200      // times its own size,
	minUnpackLimit  = 16 << 20 // if it unpacks to more than this
)

// UnpackLimit is how many bytes a packed text of so many may unpack to.
func UnpackLimit(packed int) int { return max(minUnpackLimit, MaxUnpackFactor*packed) }
