package prove

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// hasPolicy reports whether a policy is in force on the path of a request, whichever backend it
// gets to.
func (p *prover) hasPolicy(a *request.Answer) bool {
	if !p.hasUnqueriedNode(a) && slices.ContainsFunc(p.findInForceAbove(a), (*collect.InForce).HasRules) {
		return true // the usual case
	}
	key := requests.RulePathOf(a)
	found, known := p.policyKnown[key]
	if !known {
		any := func(all []*collect.InForce) bool { return slices.ContainsFunc(all, (*collect.InForce).HasRules) }
		before, at := p.findInForce(a)
		found = any(before) || len(at) > 0 &&
			!slices.ContainsFunc(at, func(all []*collect.InForce) bool { return !any(all) })
		if !any(p.findInForceAbove(a)) {
			p.policyKnown[key] = found
		}
	}
	return found
}

// hasUnqueriedNode reports whether some node on the path of a request was not looked at yet.
func (p *prover) hasUnqueriedNode(a *request.Answer) bool {
	return p.queriedNodes == nil || min(a.Rule, a.Listener, a.Gateway) == topology.None || !p.queriedNodes[a.Rule] ||
		!p.queriedNodes[a.Listener] || !p.queriedNodes[a.Gateway]
}

// buildBackendPaths returns the paths of a request to its backends. If the rule is reached on
// several paths through one listener, these are put together.
func (p *prover) buildBackendPaths(a *request.Answer) []BackendPath {
	before, at := p.findInForce(a)
	place := collect.EffectiveTarget{Node: a.Rule, Target: p.collector.Resolution.Node(a.Rule).Ref,
		Paths: p.listRulePaths(a)}
	if len(a.Backends) == 0 {
		place.InForce = before
		return []BackendPath{{EffectiveTarget: place}}
	}
	out := make([]BackendPath, len(a.Backends))
	for i, b := range a.Backends {
		out[i] = BackendPath{EffectiveTarget: place, Backend: b.Ref}
		out[i].InForce = slices.Concat(before, at[i])
	}
	return out
}

// listRulePaths returns the paths to the rule of a request through its listener.
func (p *prover) listRulePaths(a *request.Answer) []view.Path {
	var out []view.Path
	for _, way := range p.paths.To(a.Rule) {
		if slices.Contains(way, a.Gateway) && slices.Contains(way, a.Listener) {
			out = append(out, p.collector.ConvertPath(way))
		}
	}
	return view.SortPaths(out)
}

// findInForce returns what is in force on the path of a request: before a backend is chosen, and at
// each backend that it may get to.
func (p *prover) findInForce(a *request.Answer) (before []*collect.InForce, at [][]*collect.InForce) {
	p.markVisited(requests.EntryNodes(a))
	if p.queriedNodes == nil {
		p.queriedNodes = make([]bool, p.collector.Resolution.Len())
	}
	for _, id := range []topology.NodeID{a.Gateway, a.Listener, a.Rule} {
		if id != topology.None {
			p.queriedNodes[id] = true
		}
	}
	var backends []topology.NodeID
	before = append(p.findInForceAt(a.Rule, a.Listener), p.findInForceAbove(a)...) // the rule's own first
	for i := range a.Backends {
		var all []*collect.InForce
		for _, id := range p.writer.FindBackendNodes(a.Backends[i : i+1]) {
			backends = append(backends, id)
			all = append(all, p.findInForceAt(id, a.Listener, a.Rule)...)
		}
		at = append(at, all)
	}
	p.collector.AddVisited(p.filterUnvisited(requests.NodesAffecting(p.collector.Resolution, a, backends)))
	return before, at
}

// findInForceAbove returns what is in force on the path of a request above its rule.
func (p *prover) findInForceAbove(a *request.Answer) []*collect.InForce {
	key := requests.RulePath{Gateway: a.Gateway, Listener: a.Listener, Rule: a.Route}
	out, known := p.aboveRule[key]
	if !known {
		out = slices.Concat(p.findInForceAt(a.Route, a.Listener), p.findInForceAt(a.Listener, a.Listener),
			p.findInForceAt(a.Gateway))
		p.aboveRule[key] = out
	}
	return out
}

// markVisited notes nodes as looked at, each once.
func (p *prover) markVisited(nodes []topology.NodeID) {
	p.collector.MarkVisited(p.filterUnvisited(slices.Clone(nodes)))
}

// filterUnvisited returns the nodes with which it is called for the first time.
func (p *prover) filterUnvisited(nodes []topology.NodeID) []topology.NodeID {
	if p.visitedNodes == nil {
		p.visitedNodes = make([]bool, p.collector.Resolution.Len())
	}
	return slices.DeleteFunc(nodes, func(id topology.NodeID) bool {
		known := p.visitedNodes[id]
		p.visitedNodes[id] = true
		return known
	})
}

// findInForceAt returns what is in force at a node on paths that lead through all of the given
// nodes.
func (p *prover) findInForceAt(id topology.NodeID, through ...topology.NodeID) []*collect.InForce {
	var out []*collect.InForce
	p.collector.EachStackAt(id, func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, ways []resolve.Path) {
		leads := func(way resolve.Path) bool {
			return !slices.ContainsFunc(through, func(t topology.NodeID) bool {
				return t != topology.None &&
					!slices.Contains(way, t)
			})
		}
		if !slices.ContainsFunc(ways, leads) {
			return
		}
		out = append(out, p.inForce.Find(k, p.collector.AnswerWithProblems(k, id, s)))
	})
	return out
}
