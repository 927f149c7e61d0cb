package requests

import (
	"cmp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Size orders requests: a request that needs less to be sent comes first.
type Size struct {
	unusual int
	text    string
}

// SizeOf returns how much a request says.
func SizeOf(r *request.Request) Size {
	n := len(r.Headers) + len(r.Query)
	if r.Method != "GET" {
		n++
	}
	if strings.HasPrefix(r.Host, "any") { // no host that is named
		n++
	}
	return Size{n, r.Text}
}

// IsSmaller reports whether request a is smaller than request b.
func IsSmaller(a, b *request.Request) bool { return CompareSizes(a, b) < 0 }

// CompareSizes orders requests by what they say, the shortest first.
func CompareSizes(a, b *request.Request) int {
	return SizeOf(a).Compare(SizeOf(b))
}

// Compare orders sizes, the smallest first.
func (s Size) Compare(o Size) int {
	return cmp.Or(s.unusual-o.unusual, len(s.text)-len(o.text), strings.Compare(s.text, o.text))
}
