package linkerd

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// findTarget is what an AuthorizationPolicy targets: a Server, a route, or its own Namespace,
// whatever name stands there.
func findTarget(o *model.Object) (ref model.Ref, ok bool) {
	r := readReference(o.Body.At("spec", "targetRef"), "")
	for _, gk := range []model.GroupKind{serverKind, ownRouteKind, httpRouteKind, grpcRouteKind} {
		if r.isKind(gk) {
			return model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Ref.Namespace, Name: r.name}, true
		}
	}
	return model.Ref{Kind: "Namespace", Name: o.Ref.Namespace}, r.isKind(namespaceKind)
}

// findServers are the Servers of which a grant of theirs is one, and the routes; those on routes
// are found by the routes.
func (w *meshIndex) findServers(o *model.Object) []*server {
	var out []*server
	ref, ok := findTarget(o)
	for _, v := range w.servers[o.Ref.Namespace] {
		if ok && (ref.Kind == "Namespace" || ref == v.object.Ref) {
			out = append(out, v)
		}
	}
	return out
}

// findServersOfOld are the Servers that a ServerAuthorization names or selects.
func (w *meshIndex) findServersOfOld(o *model.Object) []*server {
	spec := o.Body.At("spec", "server")
	name := spec.Text("name")
	selector, err := selector.ReadLabelSelector(spec.Field("selector"))
	var out []*server
	for _, v := range w.servers[o.Ref.Namespace] {
		if name != "" && v.object.Ref.Name == name || name == "" && err == nil &&
			selector.SelectsLabels(v.object.Labels) {
			out = append(out, v)
		}
	}
	return out
}

// findServerNodes are the nodes of Servers and of the routes on them.
func findServerNodes(g *topology.Graph, servers []*server) []topology.NodeID {
	var out []topology.NodeID
	for _, v := range servers {
		if id := findNode(g, v.object.Ref, serverRole); id != topology.None {
			out = append(append(out, id), g.Children(serverFamily, id)...)
		}
	}
	slices.Sort(out)
	return out
}

// newAuthorizationFinder finds the Servers and the routes at which an AuthorizationPolicy is one of
// the grants.
func newAuthorizationFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	w := buildMeshIndex(in, s)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		o := p.Object
		problem := func(severity model.Severity, code model.Code, hint, format string, args ...any) []model.Problem {
			return []model.Problem{model.Problem{Severity: severity, Code: code, Message: fmt.Sprintf(format, args...),
				Hint: hint}.At(o)}
		}
		ref, ok := findTarget(o)
		if !ok {
			return nil, problem(model.Warning, model.InvalidTarget,
				"it may target: Server, HTTPRoute, GRPCRoute, Namespace",
				"%s may not be a target: the policy does not apply", o.Text("spec", "targetRef", "kind"))
		}
		out := findServerNodes(g, w.findServers(o))
		for _, id := range g.Lookup(ref) {
			if g.Node(id).Role == serverRouteRole {
				out = append(out, id)
			}
		}
		problems := w.voidProblems(w.readAuthorization(o))
		switch e := in.FindExistence(ref); {
		case len(out) > 0:
		case ref.Kind == "Namespace":
			problems = append(problems, problem(model.Info, model.NotReached, "",
				"no Server is in its Namespace; it does not reach ports without one")...)
		case e.Presence == model.NotKnown:
			problems = append(problems, problem(model.Warning, model.NotEvaluated, "", "%s", e.Why)...)
		case e.IsAbsent():
			problems = append(problems, problem(model.Warning, model.TargetNotFound, "",
				"%s is not found: the policy does not apply", ref)...)
		default:
			problems = append(problems, problem(model.Warning, model.NotReached, "",
				"%s is on no Server: nobody asks the policy", ref)...)
		}
		return out, problems
	}
}

// newOldAuthorizationFinder finds the same for a ServerAuthorization.
func newOldAuthorizationFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	w := buildMeshIndex(in, s)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		out := findServerNodes(g, w.findServersOfOld(p.Object))
		problems := w.voidProblems(w.readOldAuthorization(p.Object))
		switch o := in.FindOmission(serverKind, p.Ref().Namespace); {
		case len(out) > 0:
		case o != nil:
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: in.ExplainUnread("the Servers of its namespace", serverKind, p.Ref().Namespace)}.At(p.Object))
		default:
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.TargetNotFound,
				Message: "no Server in its namespace is called so, or has the labels: it does not apply"}.At(p.Object))
		}
		return out, problems
	}
}

// voidProblems says why a policy grants nothing at all.
func (w *meshIndex) voidProblems(g grant) []model.Problem {
	if g.voidReason == "" {
		return nil
	}
	p := model.Problem{Severity: model.Warning, Code: voidPolicy.ID, Message: g.voidReason +
		": the policy is ignored as a whole, and lets nobody in",
		Hint: "add what is missing, or take the reference out"}.At(g.policy)
	if g.missing != "" && w.in.Cluster != nil && (w.in.Cluster.HasUnread(meshTLSKind) ||
		w.in.Cluster.HasUnread(networkKind)) {
		p.Code, p.Message, p.Hint = model.NotEvaluated, g.missing+
			" is forbidden: cannot tell whether the policy lets anybody in", ""
	}
	return []model.Problem{p}
}

// newGrantSituator is the union of the grants of one kind at a Server, or at a route on one (IX
// client_authzs). Nothing is compared.
func newGrantSituator(g *topology.Graph, in *model.Snapshot, s model.Settings) func(topology.NodeID) *policy.Situation {
	if !isPresent(in, s) {
		return nil
	}
	w := buildMeshIndex(in, s)
	return func(id topology.NodeID) *policy.Situation {
		if role := g.Node(id).Role; role != serverRole && role != serverRouteRole {
			return nil
		}
		return &policy.Situation{Place: func(p *policy.Policy) (topology.NodeID,
			topology.Role) {
			return w.findGrantPlace(g, p, id)
		},
			Fold: func(layers []*policy.Policy) merge.PlanFunc {
				return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return w.foldGrants(layers) }
			}}
	}
}

// findGrantPlace is where a grant stands: at the Server, at the route, or at the Namespace.
func (w *meshIndex) findGrantPlace(g *topology.Graph, p *policy.Policy, at topology.NodeID) (topology.NodeID,
	topology.Role) {
	if p.Object.Ref.GroupKind() == authorizationKind {
		switch ref, _ := findTarget(p.Object); {
		case ref.Kind == "Namespace":
			if ids := g.Lookup(ref); len(ids) > 0 {
				return ids[0], topology.Namespace
			}
		case ref.Kind != "Server":
			return at, topology.Route
		}
	}
	if up := g.Parents(serverFamily, at); len(up) > 0 {
		at = up[0]
	}
	return at, serverRole
}

// foldGrants lists the grants, each by the name of its policy.
func (w *meshIndex) foldGrants(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	var m merge.Output
	for i, l := range layers {
		var g grant
		if l.Object.Ref.GroupKind() == authorizationKind {
			g = w.readAuthorization(l.Object)
		} else {
			g = w.readOldAuthorization(l.Object)
		}
		path := merge.KeyPath("authorizations", l.Object.Ref.Name)
		if g.voidReason != "" {
			m.Lose(path, l.Object.Get("spec"), i, merge.Invalid)
			continue
		}
		m.Take(path, g.printedValue(), i)
	}
	return m.Units, m.Effects
}
