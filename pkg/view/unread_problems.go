package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// unreadProblems returns the problems about what is not read and may matter to what was visited.
func (a *collector) unreadProblems() []model.Problem {
	spots := resolve.UnreadInputs(a.res)
	switch {
	case a.perRequest:
		spots = slices.DeleteFunc(resolve.UnreadOnPath(a.res, a.visitedNodes), func(s *resolve.UnreadInput) bool { return dependsOnEntry(a.res, s) })
	case a.query.Targets != nil:
		spots = resolve.UnreadAt(a.res, a.visitedNodes)
	}
	return resolve.SummarizeUnread(spots)
}

// nodesAffectingRequest returns the nodes that affect a request: the Gateway with what is above it,
// the routes that delegate to the one that takes the request, and its backends.
func nodesAffectingRequest(r *resolve.Resolution, a *request.Answer, backends []topology.NodeID) []topology.NodeID {
	g := r.Graph
	out := append(entryNodes(a), backends...)
	for _, id := range []topology.NodeID{a.Gateway, a.Listener} {
		if id != topology.None {
			out = append(out, g.Parents(topology.Traffic, id)...)
		}
	}
	if a.Service.Name != "" {
		out = append(out, g.Lookup(a.Service)...)
	}
	for open := []topology.NodeID{a.Rule, a.Route}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if id == topology.None {
			continue
		}
		for _, over := range g.Parents(topology.All, id) {
			if role := g.Node(over).Role; role == topology.Route || role == topology.Rule {
				out, open = append(out, over), append(open, over)
			}
		}
	}
	return out
}

// dependsOnEntry reports whether it depends on the request whether something that is not read
// matters: it stands where requests come in.
func dependsOnEntry(r *resolve.Resolution, s *resolve.UnreadInput) bool {
	return slices.ContainsFunc(s.AttachedTo, func(id topology.NodeID) bool {
		role := r.Node(id).Role
		return role == topology.GatewayClass || role == topology.Gateway || role == topology.ListenerSet || role == topology.Listener
	})
}

// unreadProblems returns the problems about what is not read and may matter to the statuses that
// are asked about.
func (q *StatusQuery) unreadProblems(r *resolve.Resolution, kinds []*resolve.Kind) []model.Problem {
	if q.Policies != nil {
		var out []model.Problem
		for _, p := range q.Policies {
			if i := slices.IndexFunc(kinds, func(k *resolve.Kind) bool { return k.HasPolicy(p) }); i >= 0 {
				out = append(out, unreadProblemsOf(r, kinds[i], p, nil)...)
			}
		}
		return out
	}
	if q.InNamespace == nil {
		return resolve.SummarizeUnread(resolve.UnreadInputs(r))
	}
	var nodes []topology.NodeID
	for id := range topology.NodeID(r.Graph.Len()) {
		if ref := r.Graph.Node(id).Ref; ref.Namespace != "" && q.InNamespace(ref.Namespace) {
			nodes = append(nodes, id)
		}
	}
	return resolve.SummarizeUnread(resolve.UnreadForTargets(r, append(nodes, targetsIn(kinds, q.InNamespace)...)))
}

// targetsIn returns the targets of the policies of some namespaces.
func targetsIn(kinds []*resolve.Kind, in func(namespace string) bool) []topology.NodeID {
	var out []topology.NodeID
	for _, k := range kinds {
		for _, p := range k.Policies {
			if in(p.Ref().Namespace) {
				out = append(out, k.TargetsOf(p)...)
			}
		}
	}
	return out
}

// unreadProblemsOf returns the problems about what is not read and may matter to a policy, of which
// some targets are known: at its targets, above and below them. If the policy targets a route that
// is not in the input, routes from which its controller may make that route count as well.
func unreadProblemsOf(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy, more []topology.NodeID) []model.Problem {
	targets := slices.Clone(more)
	for _, scope := range r.ScopesOf(k) {
		for _, part := range scope.PartsOf(p) {
			targets = append(targets, scope.TargetsOf(part)...)
		}
	}
	spots := resolve.UnreadForTargets(r, targets)
	for i, t := range p.Refs {
		if k.HasTarget(p, i) {
			continue
		}
		for _, s := range resolve.UnreadInputs(r) {
			made := s.AttachedTo != nil && s.Object.Ref.Name == t.Ref.Name && s.Object.Ref.Namespace == t.Ref.Namespace
			if made && slices.Contains(topology.RouteKinds(), t.Ref.GroupKind()) && !slices.Contains(spots, s) {
				spots = append(spots, s)
			}
		}
	}
	return resolve.SummarizeUnread(spots)
}
