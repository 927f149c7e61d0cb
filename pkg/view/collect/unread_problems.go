package collect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// unreadProblems returns the problems about what is not read and may matter to what was visited.
func (a *Collector) unreadProblems() []model.Problem {
	spots := unread.Inputs(a.Resolution)
	switch {
	case a.perRequest:
		spots = slices.DeleteFunc(unread.OnPath(a.Resolution, a.visitedNodes),
			func(s *unread.Input) bool { return dependsOnEntry(a.Resolution, s) })
	case a.Query.Targets != nil:
		spots = unread.At(a.Resolution, a.visitedNodes)
	}
	return unread.Summarize(spots)
}

// dependsOnEntry reports whether it depends on the request whether something that is not read
// matters: it stands where requests come in.
func dependsOnEntry(r *resolve.Resolution, s *unread.Input) bool {
	return slices.ContainsFunc(s.AttachedTo, func(id topology.NodeID) bool {
		role := r.Node(id).Role
		return role == topology.GatewayClass || role == topology.Gateway || role == topology.ListenerSet ||
			role == topology.Listener
	})
}

// UnreadProblemsOf returns the problems about what is not read and may matter to a policy, of which
// some targets are known: at its targets, above and below them. If the policy targets a route that
// is not in the input, routes from which its controller may make that route count as well.
func UnreadProblemsOf(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy,
	more []topology.NodeID) []model.Problem {
	targets := slices.Clone(more)
	for _, scope := range r.ScopesOf(k) {
		for _, part := range scope.PartsOf(p) {
			targets = append(targets, scope.TargetsOf(part)...)
		}
	}
	spots := unread.ForTargets(r, targets)
	for i, t := range p.Refs {
		if k.HasTarget(p, i) {
			continue
		}
		for _, s := range unread.Inputs(r) {
			made := s.AttachedTo != nil && s.Object.Ref.Name == t.Ref.Name && s.Object.Ref.Namespace == t.Ref.Namespace
			if made && slices.Contains(gatewayapi.RouteKinds(), t.Ref.GroupKind()) && !slices.Contains(spots, s) {
				spots = append(spots, s)
			}
		}
	}
	return unread.Summarize(spots)
}
