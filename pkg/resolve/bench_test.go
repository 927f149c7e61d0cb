package resolve

import (
	"fmt"
	"testing"
)

// BenchmarkManyOnOneTarget folds one stack of so many merging policies on one Gateway.
func BenchmarkManyOnOneTarget(b *testing.B) {
	for _, n := range []int{100, 1_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			objects := shop()
			for i := range n {
				objects = append(objects, paint(fmt.Sprintf("infra/p%04d", i), "Gateway/east",
					fmt.Sprintf("overrides: {strategy: merge, m: {k%d: 1}}", i)))
			}
			for b.Loop() {
				b.StopTimer()
				r := resolved(b, objects...)
				b.StartTimer()
				r.paints().EachStackInForce(func(s StackID) { r.paints().Verdict(s) })
			}
		})
	}
}
