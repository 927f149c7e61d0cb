package effective

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// PlaceProtection says of one property whether it holds for all requests to a place that is no
// route rule: a workload or one of its ports, a proxy of a mesh, a Service in a mesh.
type PlaceProtection struct {
	Target   model.Ref         `json:"target"`             // the place
	Paths    []view.Path       `json:"paths"`              // on all of which the same is true
	Property gate.Property     `json:"property"`           // authentication, rateLimit, …
	Verdict  gate.Verdict      `json:"verdict"`            // holds, fails, depends
	Methods  []string          `json:"methods,omitempty"`  // by which requests authenticate
	By       []protect.Use     `json:"by,omitempty"`       // the gates that count
	Because  []protect.Reason  `json:"because,omitempty"`  // why
	Counters []protect.Counter `json:"counters,omitempty"` // of a rate limit
}

// placeJudge finds out what protects places that are no route rules.
type placeJudge struct {
	collector *collect.Collector
	judge     *protect.Judge
}

// protectionOfPlaces lists what protects the places asked for; nothing if the query has no gate
// functions.
func protectionOfPlaces(a *collect.Collector, nodes []topology.NodeID) []PlaceProtection {
	if a.Query.Judges.Gates == nil {
		return nil
	}
	p := placeJudge{collector: a}
	kinds := p.guardingKinds()
	if len(kinds) == 0 {
		return nil
	}
	p.judge = a.Query.Judges.NewJudge(a.Resolution)
	var out []PlaceProtection
	for _, id := range nodes {
		for _, w := range p.pathsTo(kinds, id) {
			out = append(out, p.protectionAt(id, &w)...)
		}
	}
	return out
}

// guardingKinds returns the policy kinds with gates that have results at places.
func (p *placeJudge) guardingKinds() []*resolve.Kind {
	var out []*resolve.Kind
	for _, k := range p.collector.Resolution.Kinds {
		if k.IsInUse() && len(k.Protects.Rules) > 0 &&
			slices.ContainsFunc(k.Effective, func(role topology.Role) bool { return isPlace(k, role) }) {
			out = append(out, k)
		}
	}
	return out
}

// isPlace reports whether what a kind has at nodes of a role is about a place that is no route
// rule. For backends that is so if their policies do not come with routes.
func isPlace(k *resolve.Kind, role topology.Role) bool {
	switch role {
	case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Route,
		topology.Rule, topology.Namespace,
		topology.MeshRoot, topology.Cluster, topology.Binding, topology.Opaque:
		return false
	case topology.Backend, topology.Port, topology.Frontend:
		return k.Scope != nil
	}
	return true
}

// placePaths is what is in force at a place on some paths.
type placePaths struct {
	paths  []view.Path
	stacks []protect.Stack
}

// pathsTo returns the paths to a node, those with the same in force together.
func (p *placeJudge) pathsTo(kinds []*resolve.Kind, id topology.NodeID) []placePaths {
	n := p.collector.Resolution.Node(id)
	var order []string
	stacks, paths := map[string][]protect.Stack{}, map[string]view.Path{}
	for _, k := range kinds {
		if !k.HasResultsAtNode(n) || !isPlace(k, n.Role) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.IsEmpty(s) || !isWritten(k.Verdict(s)) {
				continue
			}
			for _, path := range p.collector.ConvertTargetPaths(k, id, s, k.Paths(id, s)) {
				key := path.Key()
				if stacks[key] == nil {
					order = append(order, key)
					paths[key] = path
				}
				stacks[key] = append(stacks[key], protect.Stack{Kind: k, ID: s})
			}
		}
	}
	var out []placePaths
	for _, key := range order {
		at := slices.IndexFunc(out, func(w placePaths) bool { return slices.Equal(w.stacks, stacks[key]) })
		if at < 0 {
			out = append(out, placePaths{stacks: stacks[key]})
			at = len(out) - 1
		}
		out[at].paths = append(out[at].paths, paths[key])
	}
	for i := range out {
		out[i].paths = view.SortPaths(out[i].paths)
	}
	return out
}

// isWritten reports whether an object sets anything of what is in force.
func isWritten(v *resolve.Verdict) bool {
	return slices.ContainsFunc(v.Layers, func(l resolve.Layer) bool {
		return l.Policy.Builtin == "" ||
			l.Policy.Object.Ref.Name != ""
	})
}

// protectionAt lists the properties of a place: authentication and authorization if a kind there
// has such gates, and each other property if there is a gate of it.
func (p *placeJudge) protectionAt(id topology.NodeID, w *placePaths) []PlaceProtection {
	like := request.Request{Protocol: request.HTTP, Method: "GET", Path: "/"}
	first, tests := p.judge.FindGatesAt(id, w.stacks, &like)
	classes := []*protect.Gates{}
	known := space.EachTestResult(tests, like, func(r request.Request) {
		g, _ := p.judge.FindGatesAt(id, w.stacks, &r)
		classes = append(classes, g)
	})
	if !known {
		classes = append(classes, first)
	}
	var out []PlaceProtection
	for _, property := range gate.Properties() {
		if !p.decidesAccess(w, property) &&
			!slices.ContainsFunc(classes, func(g *protect.Gates) bool { return g.HasGate(property) }) {
			continue
		}
		var r protect.Result
		for _, g := range classes {
			r = protect.WorstOf(r, g.JudgeProperty(property))
		}
		if !known {
			r = r.DoubtSuccess("the requests to it are not told apart")
		}
		out = append(out, PlaceProtection{p.collector.Resolution.Node(id).Ref, w.paths, property, r.Verdict, r.Methods,
			r.By, r.Because, r.Counters})
	}
	return out
}

// decidesAccess reports whether the property is about who gets in, and a kind at the place has
// gates of it.
func (p *placeJudge) decidesAccess(w *placePaths, property gate.Property) bool {
	if property != gate.Authentication && property != gate.Authorization {
		return false
	}
	return slices.ContainsFunc(w.stacks, func(s protect.Stack) bool {
		return slices.ContainsFunc(s.Kind.Protects.Rules, func(r gate.Rule) bool { return r.Property == property })
	})
}
