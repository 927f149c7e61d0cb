package matrix

import (
	"fmt"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
)

// TestMetrics: a rule is counted once, as the worst of its paths, and one that was not judged is
// never called authenticated.
func TestMetrics(t *testing.T) {
	r := viewtest.ResolutionOf(t, crossroads)
	for cells, want := range map[bool]string{
		false: "{[ no_traffic] 0} {[a no_traffic] 1} {[a open] 2} {[a undecided] 2}",
		true:  "{[ no_traffic] 0} {[a no_traffic] 1} {[a undecided] 4}",
	} {
		m := matrixOf(t, r, Query{Cells: cells})
		got := ""
		for _, f := range metric.Bound(m.Metrics()) {
			if f.Name != "dopolicy_route_rules" {
				continue
			}
			for _, s := range f.Series {
				if s.Value > 0 || s.Values[1] == "no_traffic" {
					got += fmt.Sprint(s) + " "
				}
			}
		}
		if got != want+" " {
			t.Errorf("with cells only %v: %s, want %s", cells, got, want)
		}
	}
}
