package audit

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// ProxyFacts are the differences, as pictures mark them.
func (r *Report) ProxyFacts() []graph.ProxyFact {
	type setting struct {
		target     model.Ref
		kind, name string
	}
	var out []graph.ProxyFact
	unexplained, seen := map[model.Ref]int{}, map[setting]bool{}
	for i := range r.Items {
		item := &r.Items[i]
		if !item.Verdict.IsDifference() || item.Target == nil {
			continue
		}
		f := graph.ProxyFact{Target: *item.Target, Policies: item.Policies}
		switch {
		case item.Verdict == RouteMissing:
			f.Word, f.Paths = "no route", item.Paths
		case item.PolicyKind == "":
			f.Word = "answers with an error"
		case item.Verdict == Unexplained:
			if one := (setting{f.Target, item.PolicyKind, item.Setting}); !seen[one] { // several proxies may do so
				seen[one] = true
				unexplained[f.Target]++
			}
			continue
		}
		out = append(out, f)
	}
	for target, n := range unexplained {
		out = append(out, graph.ProxyFact{Target: target, Word: fmt.Sprintf("%d unexplained", n)})
	}
	return out
}
