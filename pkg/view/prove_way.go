package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// inForce reports whether a policy is in force on the way of a request, whichever backend it gets to.
func (p *prover) inForce(a *request.Answer) bool {
	if !p.seesNew(a) && slices.ContainsFunc(p.above(a), (*InForce).any) {
		return true // as for most requests
	}
	key := wayOf(a)
	found, known := p.known[key]
	if !known {
		any := func(all []*InForce) bool { return slices.ContainsFunc(all, (*InForce).any) }
		before, at := p.standing(a)
		found = any(before) || len(at) > 0 && !slices.ContainsFunc(at, func(all []*InForce) bool { return !any(all) })
		if !any(p.above(a)) {
			p.known[key] = found
		}
	}
	return found
}

func (f *InForce) any() bool { return len(f.Policy.Rules) > 0 }

// seesNew reports whether what is on the way of a request, and beside it, was not all looked at yet.
func (p *prover) seesNew(a *request.Answer) bool {
	return p.stood == nil || min(a.Rule, a.Listener, a.Gateway) == topology.None || !p.stood[a.Rule] || !p.stood[a.Listener] || !p.stood[a.Gateway]
}

// ways are the ways of a request to its backends, those of a rule that is reached on several roads through one listener all told.
func (p *prover) ways(a *request.Answer) []RequestWay {
	before, at := p.standing(a)
	place := EffectiveTarget{Node: a.Rule, Target: p.survey.res.Node(a.Rule).Ref, Paths: p.roads(a)}
	if len(a.Backends) == 0 {
		place.InForce = before
		return []RequestWay{{EffectiveTarget: place}}
	}
	out := make([]RequestWay, len(a.Backends))
	for i, b := range a.Backends {
		out[i] = RequestWay{EffectiveTarget: place, Backend: b.Ref}
		out[i].InForce = slices.Concat(before, at[i])
	}
	return out
}

// roads are the paths to the rule of a request through its listener.
func (p *prover) roads(a *request.Answer) []Path {
	if p.places == nil {
		p.places = &EffectiveTargets{collector: collector{res: p.survey.res}, paths: map[topology.NodeID][]resolve.Path{}}
	}
	var out []Path
	for _, way := range p.places.traffic(a.Rule) {
		if slices.Contains(way, a.Gateway) && slices.Contains(way, a.Listener) {
			out = append(out, p.survey.pathOf(way))
		}
	}
	return inOrder(out)
}

// standing is what is in force on the way of a request: before a backend is chosen, and at each backend that it may get to.
func (p *prover) standing(a *request.Answer) (before []*InForce, at [][]*InForce) {
	p.look(stepsOf(a))
	if p.stood == nil {
		p.stood = make([]bool, p.survey.res.Len())
	}
	for _, id := range []topology.NodeID{a.Gateway, a.Listener, a.Rule} {
		if id != topology.None {
			p.stood[id] = true
		}
	}
	var backends []topology.NodeID
	before = append(p.inForceAt(a.Rule, a.Listener), p.above(a)...) // the rule's own first
	for i := range a.Backends {
		var all []*InForce
		for _, id := range p.backends(a.Backends[i : i+1]) {
			backends = append(backends, id)
			all = append(all, p.inForceAt(id, a.Listener, a.Rule)...)
		}
		at = append(at, all)
	}
	p.survey.looked = append(p.survey.looked, p.unseen(requestNodes(p.survey.res, a, backends))...)
	return before, at
}

// above is what is in force on the way of a request before its rule.
func (p *prover) above(a *request.Answer) []*InForce {
	key := way{a.Gateway, a.Listener, a.Route}
	out, known := p.over[key]
	if !known {
		out = slices.Concat(p.inForceAt(a.Route, a.Listener), p.inForceAt(a.Listener, a.Listener), p.inForceAt(a.Gateway))
		p.over[key] = out
	}
	return out
}

// look notes nodes as looked at, each once.
func (p *prover) look(nodes []topology.NodeID) { p.survey.look(p.unseen(slices.Clone(nodes))) }

// unseen are the nodes that this is called with for the first time.
func (p *prover) unseen(nodes []topology.NodeID) []topology.NodeID {
	if p.seen == nil {
		p.seen = make([]bool, p.survey.res.Len())
	}
	return slices.DeleteFunc(nodes, func(id topology.NodeID) bool {
		known := p.seen[id]
		p.seen[id] = true
		return known
	})
}

// inForceAt is what is in force at a node on paths that lead through all of the given nodes.
func (p *prover) inForceAt(id topology.NodeID, through ...topology.NodeID) []*InForce {
	var out []*InForce
	p.survey.seeNode(id, func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, ways []resolve.Path) {
		leads := func(way resolve.Path) bool {
			return !slices.ContainsFunc(through, func(t topology.NodeID) bool { return t != topology.None && !slices.Contains(way, t) })
		}
		if !slices.ContainsFunc(ways, leads) {
			return
		}
		common := p.survey.common(k, id, s)
		f := p.shared[common]
		if f == nil {
			f = &InForce{Kind: k, Policy: common.policy, Problems: common.problems, number: len(p.shared)}
			p.shared[common] = f
		}
		out = append(out, f)
	})
	return out
}
