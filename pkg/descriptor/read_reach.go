package descriptor

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// reachReader reads where a kind has results.
type reachReader struct{ reader }

func (r reachReader) fieldReaders() map[string]form.Field {
	k := &r.kind.Reach
	return map[string]form.Field{"family": r.readFamily, "effective": r.readEffective, "routes": r.readRoutes,
		"holds": eitherField(r.Reader, &k.Local, "below", "target"),
		"listenerSets": wordField(r.Reader, &k.ListenerSets, []policy.ListenerSets{policy.AttachedSets, policy.AllSets,
			policy.NoSets}),
		"paths": funcObjectField(r.Reader, &k.Step, r.stepMakers(), "to judge paths"),
		"voids": functionListField(r.Reader, &k.Voids, r.funcs.Voids, "to say where nothing is in force")}
}

// stepMakers are the functions that judge the steps of paths.
func (r reachReader) stepMakers() map[string]policy.StepMaker {
	out := map[string]policy.StepMaker{}
	maps.Copy(out, r.funcs.Steps)
	for name, step := range r.funcs.Path {
		out[name] = func(*topology.Graph, *model.Snapshot) policy.StepFunc { return step }
	}
	return out
}

// readFamily reads the ways on which policies hold: a family of the core, or one that a vendor's
// linkers make, which has a dot in its name.
func (r reachReader) readFamily(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, ".") {
		r.Text(&r.kind.Family)(n)
		return
	}
	r.Word(&r.kind.Family, []string{topology.Traffic, topology.Mesh, topology.All, topology.Namespaced})(n)
}

// readEffective reads the roles of the nodes where there are results.
func (r reachReader) readEffective(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		role := r.readRole(e)
		if role == topology.Namespace {
			r.Fail(n, "a namespace is no effective target")
		}
		r.kind.Effective = append(r.kind.Effective, role)
	})
}

// readRoutes reads the kinds of routes at whose rules there are results.
func (r reachReader) readRoutes(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var name string
		r.Text(&name)(e)
		at := slices.IndexFunc(gatewayapi.RouteKinds(), func(gk model.GroupKind) bool { return gk.Kind == name })
		if at < 0 {
			r.Fail(e, "%s is no kind of routes", name)
			return
		}
		r.kind.Routes = append(r.kind.Routes, gatewayapi.RouteKinds()[at])
	})
	slices.SortFunc(r.kind.Routes, model.GroupKind.Compare)
}

// roleOfKind returns the role of an object of the kind.
func roleOfKind(gk model.GroupKind) topology.Role {
	switch {
	case gk.Group == policy.GatewayGroup && gk.Kind == "GatewayClass":
		return topology.GatewayClass
	case gk.Group == policy.GatewayGroup && gk.Kind == "Gateway":
		return topology.Gateway
	case gatewayapi.IsListenerSet(gk):
		return topology.ListenerSet
	case gk.Group == policy.GatewayGroup && strings.HasSuffix(gk.Kind, "Route"):
		return topology.Route
	case gk.Group == "" && gk.Kind == "Namespace":
		return topology.Namespace
	}
	return topology.Backend
}

// effectiveRoles returns where a kind with these targets has results: at route rules if a route or
// anything above it can be targeted, and wherever else its targets are.
func effectiveRoles(targets []policy.TargetForm) []topology.Role {
	var rule, rest []topology.Role
	for _, t := range targets {
		role := roleOfKind(t.GroupKind)
		if role != topology.Backend {
			rule = []topology.Role{topology.Rule}
			continue
		}
		if t.Section == topology.Port {
			role = topology.Port
		}
		if !slices.Contains(rest, role) {
			rest = append(rest, role)
		}
	}
	slices.Sort(rest)
	return append(rule, rest...)
}

// targetRoutes returns the kinds of routes at whose rules a kind with these targets has results:
// those that it may target. If it may target none, its policies are about HTTP.
func targetRoutes(targets []policy.TargetForm) []model.GroupKind {
	var out []model.GroupKind
	for _, gk := range gatewayapi.RouteKinds() {
		if slices.ContainsFunc(targets, func(t policy.TargetForm) bool { return t.GroupKind == gk }) {
			out = append(out, gk)
		}
	}
	if out == nil {
		return gatewayapi.HTTPRouteKinds()
	}
	return out
}

// observedRoutes is targetRoutes for a kind of which only the targets that its policies have are
// known: HTTP, and what they really target.
func observedRoutes(targets []policy.TargetForm) []model.GroupKind {
	out := slices.Concat(gatewayapi.HTTPRouteKinds(), targetRoutes(targets))
	slices.SortFunc(out, model.GroupKind.Compare)
	return slices.Compact(out)
}
