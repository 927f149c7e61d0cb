package effective

import (
	"slices"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// findReportedPolicies returns what published reports say of the routes of a query, where something
// that matters for the answer may not be read.
func findReportedPolicies(s *source.Session, query view.Query,
	answer *effective.EffectivePolicyList) []effective.ReportedPolicy {
	if !slices.ContainsFunc(answer.Problems, func(p model.Problem) bool { return p.Code == model.Forbidden }) {
		return nil
	}
	asked := map[model.Ref][]string{} // routes, with the sections that were asked for; "" is all
	for _, id := range query.Targets {
		if n := s.Node(id); n.Role == topology.Route || n.Role == topology.Rule {
			asked[n.Ref.WithoutSection()] = append(asked[n.Ref.WithoutSection()], n.Ref.Section)
		}
	}
	all := publish.ReadReports(s.Snapshot, func(route model.Ref) bool {
		return query.Targets == nil ||
			asked[route] != nil
	}, time.Now())
	return slices.DeleteFunc(all, func(r effective.ReportedPolicy) bool {
		sections := asked[r.Target.WithoutSection()]
		other := query.Targets != nil && !slices.Contains(sections, "") && !slices.Contains(sections, r.Target.Section)
		return other || query.Kinds != nil && r.PolicyKind != "" &&
			!slices.Contains(query.Kinds, model.ParseGroupKind(r.PolicyKind))
	})
}
