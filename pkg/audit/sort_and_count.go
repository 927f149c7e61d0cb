package audit

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// isTargetAsked reports whether a target is asked about.
func (in *Input) isTargetAsked(target model.Ref) bool { return in.In == nil || in.In(target.Namespace) }

func (r *Report) sortAndCount(rules map[model.Ref]bool) {
	slices.SortStableFunc(r.Items, compareItems)
	slices.SortStableFunc(r.Matched, func(a, b Match) int {
		return firstNonZero(a.Target.Compare(b.Target), strings.Compare(a.RouteConfig, b.RouteConfig),
			strings.Compare(a.Listener, b.Listener))
	})
	matched := map[model.Ref]bool{}
	for _, m := range r.Matched {
		matched[m.Target] = true
	}
	r.Summary.Rules, r.Summary.Matched = len(rules), len(matched)
	for i := range r.Items {
		r.Summary.countItem(&r.Items[i])
	}
}

func compareItems(a, b Item) int {
	return firstNonZero(model.ComparePointers(a.Target, b.Target, model.Ref.Compare), strings.Compare(a.PolicyKind,
		b.PolicyKind), strings.Compare(a.Setting, b.Setting), strings.Compare(a.Proxy, b.Proxy))
}

func firstNonZero(results ...int) int {
	for _, r := range results {
		if r != 0 {
			return r
		}
	}
	return 0
}
