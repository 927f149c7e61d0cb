package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// blind tells what is not read and may matter to what was looked at.
func (a *collector) blind() []model.Problem {
	spots := a.res.BlindSpots()
	switch {
	case a.judged:
		spots = slices.DeleteFunc(a.res.BlindOn(a.looked), func(s *resolve.BlindSpot) bool { return hangsOnEntry(a.res, s) })
	case a.query.Targets != nil:
		spots = a.res.BlindAt(a.looked)
	}
	return resolve.Tell(spots)
}

// requestNodes lists what a request passes on its way: the Gateway with what is above it, the routes that hand over to the one that takes it, and
// its backends.
func requestNodes(r *resolve.Resolution, a *request.Answer, backends []topology.NodeID) []topology.NodeID {
	g := r.Graph
	out := append(stepsOf(a), backends...)
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

// hangsOnEntry reports whether something hangs on where requests come in, so that it depends on the request whether it matters.
func hangsOnEntry(r *resolve.Resolution, s *resolve.BlindSpot) bool {
	return slices.ContainsFunc(s.Hangs, func(id topology.NodeID) bool {
		role := r.Node(id).Role
		return role == topology.GatewayClass || role == topology.Gateway || role == topology.ListenerSet || role == topology.Listener
	})
}

// blind tells what is not read and may matter to the statuses that are asked about.
func (q *StatusQuery) blind(r *resolve.Resolution, kinds []*resolve.Kind) []model.Problem {
	if q.Policies != nil {
		var out []model.Problem
		for _, p := range q.Policies {
			if i := slices.IndexFunc(kinds, func(k *resolve.Kind) bool { return k.Has(p) }); i >= 0 {
				out = append(out, blindTo(r, kinds[i], p, nil)...)
			}
		}
		return out
	}
	if q.In == nil {
		return resolve.Tell(r.BlindSpots())
	}
	var nodes []topology.NodeID
	for id := range topology.NodeID(r.Graph.Len()) {
		if ref := r.Graph.Node(id).Ref; ref.Namespace != "" && q.In(ref.Namespace) {
			nodes = append(nodes, id)
		}
	}
	return resolve.Tell(r.BlindFor(append(nodes, targetsIn(kinds, q.In)...)))
}

// targetsIn are the targets of the policies of some namespaces.
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

// blindTo tells what is not read and may matter to what becomes of a policy, of which some targets are known: what is there, above and below;
// and routes from which its controller may make the one that the policy targets, where that is not in the input.
func blindTo(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy, more []topology.NodeID) []model.Problem {
	targets := slices.Clone(more)
	for _, scope := range r.Scopes(k) {
		for _, part := range scope.PartsOf(p) {
			targets = append(targets, scope.TargetsOf(part)...)
		}
	}
	spots := r.BlindFor(targets)
	for i, t := range p.Refs {
		if k.Attaches(p, i) {
			continue
		}
		for _, s := range r.BlindSpots() {
			made := s.Hangs != nil && s.Object.Ref.Name == t.Ref.Name && s.Object.Ref.Namespace == t.Ref.Namespace
			if made && slices.Contains(topology.RouteKinds(), t.Ref.GroupKind()) && !slices.Contains(spots, s) {
				spots = append(spots, s)
			}
		}
	}
	return resolve.Tell(spots)
}
