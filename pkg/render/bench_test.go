package render

import (
	"fmt"
	"io"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// many is an answer of n items: two kinds on each route rule.
func many(n int) *effective.EffectivePolicyList {
	l := &effective.EffectivePolicyList{}
	for i := range n / 2 {
		at := target("HTTPRoute", fmt.Sprintf("team-%02d/route-%d#rule-%d", i%40, i/4, i%4+1))
		a, b := auth(at), limits()
		b.Target = at
		l.Items = append(l.Items, a, b)
	}
	l.Finish("EffectivePolicyList", nil)
	return l
}

func BenchmarkWrite(b *testing.B) {
	l := many(20000)
	for _, format := range supportedFormats(l) {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(io.Discard, l, Options{Format: Format(format)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
