package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// PlaceProtection says of one property whether it holds for all requests to a place that is no route
// rule: a workload or one of its ports, a proxy of a mesh, a Service in a mesh.
type PlaceProtection struct {
	Target   model.Ref         `json:"target"`             // the place
	Paths    []Path            `json:"paths"`              // on all of which the same is true
	Property gate.Property     `json:"property"`           // authentication, rateLimit, …
	Verdict  gate.Verdict      `json:"verdict"`            // holds, fails, depends
	Methods  []string          `json:"methods,omitempty"`  // by which requests authenticate
	By       []protect.Use     `json:"by,omitempty"`       // the gates that count
	Because  []protect.Reason  `json:"because,omitempty"`  // why
	Counters []protect.Counter `json:"counters,omitempty"` // of a rate limit
}

// placeJudge tells what places that are no route rules are protected by.
type placeJudge struct {
	*collector
	judge *protect.Judge
}

// protectionOf lists what the places asked for are protected by. Without gate functions nobody wants
// to know.
func (a *collector) protectionOf(nodes []topology.NodeID) []PlaceProtection {
	if a.query.Judges.Gates == nil {
		return nil
	}
	p := placeJudge{collector: a}
	kinds := p.guarding()
	if len(kinds) == 0 {
		return nil
	}
	p.judge = a.query.Judges.protection(a.res)
	var out []PlaceProtection
	for _, id := range nodes {
		for _, w := range p.waysTo(kinds, id) {
			out = append(out, p.at(id, &w)...)
		}
	}
	return out
}

// guarding are the policy kinds with gates that have results at places.
func (p *placeJudge) guarding() []*resolve.Kind {
	var out []*resolve.Kind
	for _, k := range p.res.Kinds {
		if k.InUse() && len(k.Protects.Rules) > 0 && slices.ContainsFunc(k.Effective, func(role topology.Role) bool { return isPlace(k, role) }) {
			out = append(out, k)
		}
	}
	return out
}

// isPlace reports whether what a kind has at nodes of a role is about a place that no route rule tells
// of: of backends that is so if their policies do not come with routes.
func isPlace(k *resolve.Kind, role topology.Role) bool {
	switch role {
	case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Route, topology.Rule, topology.Namespace,
		topology.MeshRoot, topology.Cluster, topology.Binding, topology.Opaque:
		return false
	case topology.Backend, topology.Port, topology.Frontend:
		return k.Scope != nil
	}
	return true
}

// placeWay is what is in force at a place on some paths.
type placeWay struct {
	paths  []Path
	stacks []protect.Stack
}

// waysTo are the paths to a node, those with the same in force together.
func (p *placeJudge) waysTo(kinds []*resolve.Kind, id topology.NodeID) []placeWay {
	n := p.res.Node(id)
	var order []string
	stacks, paths := map[string][]protect.Stack{}, map[string]Path{}
	for _, k := range kinds {
		if !k.ReachesNode(n) || !isPlace(k, n.Role) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.Empty(s) || !isWritten(k.Verdict(s)) {
				continue
			}
			for _, path := range p.pathsOf(k, id, s, k.Paths(id, s)) {
				key := path.Key()
				if stacks[key] == nil {
					order = append(order, key)
					paths[key] = path
				}
				stacks[key] = append(stacks[key], protect.Stack{Kind: k, ID: s})
			}
		}
	}
	var out []placeWay
	for _, key := range order {
		at := slices.IndexFunc(out, func(w placeWay) bool { return slices.Equal(w.stacks, stacks[key]) })
		if at < 0 {
			out = append(out, placeWay{stacks: stacks[key]})
			at = len(out) - 1
		}
		out[at].paths = append(out[at].paths, paths[key])
	}
	for i := range out {
		out[i].paths = inOrder(out[i].paths)
	}
	return out
}

// isWritten reports whether an object has a say in what is in force.
func isWritten(v *resolve.Verdict) bool {
	return slices.ContainsFunc(v.Layers, func(l resolve.Layer) bool { return l.Policy.Builtin == "" || l.Policy.Object.Ref.Name != "" })
}

// at lists the properties of a place: those of who gets in if a kind there has such gates, all others
// if there is one.
func (p *placeJudge) at(id topology.NodeID, w *placeWay) []PlaceProtection {
	like := request.Request{Protocol: request.HTTP, Method: "GET", Path: "/"}
	first, tests := p.judge.At(id, w.stacks, &like)
	classes := []*protect.Gates{}
	known := space.Told(tests, like, func(r request.Request) {
		g, _ := p.judge.At(id, w.stacks, &r)
		classes = append(classes, g)
	})
	if !known {
		classes = append(classes, first)
	}
	var out []PlaceProtection
	for _, property := range gate.Properties() {
		if !p.isAsked(w, property) && !slices.ContainsFunc(classes, func(g *protect.Gates) bool { return g.Has(property) }) {
			continue
		}
		var r protect.Result
		for _, g := range classes {
			r = protect.Worst(r, g.Of(property))
		}
		if !known {
			r = r.Unsure("the requests to it are not told apart")
		}
		out = append(out, PlaceProtection{p.res.Node(id).Ref, w.paths, property, r.Verdict, r.Methods, r.By, r.Because, r.Counters})
	}
	return out
}

// isAsked reports whether a kind at a place has gates of who gets in, of a property.
func (p *placeJudge) isAsked(w *placeWay, property gate.Property) bool {
	if property != gate.Authentication && property != gate.Authorization {
		return false
	}
	return slices.ContainsFunc(w.stacks, func(s protect.Stack) bool {
		return slices.ContainsFunc(s.Kind.Protects.Rules, func(r gate.Rule) bool { return r.Property == property })
	})
}
