package cli

import (
	"slices"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// wantedReports returns the published reports that are read where policies may not be read.
func (f *sourceFlags) wantedReports() *load.ReportQuery {
	if !f.reports {
		return nil
	}
	out := &load.ReportQuery{Selector: publish.Selector, AllNamespaces: f.allNamespaces}
	for _, api := range publish.APIs() {
		out.Kinds = append(out.Kinds, api.GroupKind)
	}
	return out
}

// findReportedPolicies returns what published reports say of the routes of a query, where something
// that matters for the answer may not be read.
func findReportedPolicies(s *session, query view.Query, answer *view.EffectivePolicyList) []view.ReportedPolicy {
	if !slices.ContainsFunc(answer.Problems, func(p model.Problem) bool { return p.Code == model.Forbidden }) {
		return nil
	}
	asked := map[model.Ref][]string{} // routes, with the sections that were asked for; "" is all
	for _, id := range query.Targets {
		if n := s.Node(id); n.Role == topology.Route || n.Role == topology.Rule {
			asked[n.Ref.WithoutSection()] = append(asked[n.Ref.WithoutSection()], n.Ref.Section)
		}
	}
	all := publish.ReadReports(s.Snapshot, func(route model.Ref) bool { return query.Targets == nil || asked[route] != nil }, time.Now())
	return slices.DeleteFunc(all, func(r view.ReportedPolicy) bool {
		sections := asked[r.Target.WithoutSection()]
		other := query.Targets != nil && !slices.Contains(sections, "") && !slices.Contains(sections, r.Target.Section)
		return other || query.Kinds != nil && r.PolicyKind != "" && !slices.Contains(query.Kinds, model.ParseGroupKind(r.PolicyKind))
	})
}
