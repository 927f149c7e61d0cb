package kong

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// nestUnderType puts what a plugin object says below the type of the plugin, of which a request
// meets one instance.
func nestUnderType(_ *model.Object, body any, _ model.Settings) any {
	whole, ok := body.(map[string]any)
	kind, named := whole["plugin"].(string)
	if !ok || !named {
		return body
	}
	own := map[string]any{}
	for _, field := range []string{"config", "configFrom", "configPatches", "disabled", "ordering", "protocols",
		"run_on", "instance_name"} {
		if v := whole[field]; v != nil {
			own[field] = v
		}
	}
	whole = maps.Clone(whole)
	whole["spec"] = map[string]any{"plugins": map[string]any{kind: own}}
	return whole
}

// newClusterPluginFinder finds the places of KongClusterPlugins: where annotations name them and
// there is no KongPlugin of the name, and with the label global all routes of the controller.
func newClusterPluginFinder(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	at := map[string][]policy.Attached{}
	add := func(o *model.Object) {
		for i, name := range strings.Split(o.Annotations[pluginsOf], ",") {
			name = strings.TrimSpace(name)
			if name == "" || strings.Contains(name, ":") ||
				in.Get(model.Ref{Group: group, Kind: pluginKind.Kind, Namespace: o.Ref.Namespace, Name: name}) != nil {
				continue
			}
			for _, id := range g.Lookup(o.Ref) {
				at[name] = append(at[name], policy.Attached{Node: id, Ref: -1, Index: i})
			}
		}
	}
	for _, gk := range append(gatewayapi.RouteKinds(), model.GroupKind{Kind: "Service"}) {
		for _, o := range in.OfKind(gk) {
			add(o)
		}
	}
	apart := map[string][]string{}
	for _, n := range listNamedApart(in) {
		if n.plugin.Namespace == "" {
			apart[n.plugin.Name] = append(apart[n.plugin.Name],
				fmt.Sprintf("%s names %s: it is in force for %s", n.by, n.plugin, n.forWhat))
		}
	}
	global := listGlobalPlugins(in)
	return policy.Finder{Find: func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
		var out []policy.Attached
		var problems []model.Problem
		for _, a := range at[p.Ref().Name] {
			a.Policy = p
			out = append(out, a)
		}
		if p.Object.Labels["global"] == "true" {
			if others := global[p.Object.Text("plugin")]; len(others) > 1 {
				problems = append(problems, model.Problem{Severity: model.Warning, Code: model.PolicyInError,
					Message: fmt.Sprintf(
						"it is one of %d global plugins of type %s, of which Kong gets none", len(others),
						p.Object.Text(
							"plugin"))}.At(p.Object))
				return out, problems
			}
			for _, id := range g.Order(topology.Traffic) {
				if n := g.Node(id); n.Role == topology.GatewayClass && (n.Object == nil ||
					slices.Contains(controllers, n.Object.Text("spec", "controllerName"))) {
					out = append(out, policy.Attached{Policy: p, Node: id, Ref: -1})
				}
			}
		}
		for _, text := range apart[p.Ref().Name] {
			problems = append(problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
				Message: text}.At(p.Object))
		}
		if out == nil && apart[p.Ref().Name] == nil {
			unnamed := model.Problem{Severity: model.Info, Code: model.NotReached,
				Message: fmt.Sprintf("no annotation names %s, and it is not global: it is in force nowhere", p.Ref())}
			if o := in.FindOmission(model.GroupKind{}, p.Ref().Namespace); o != nil {
				unnamed.Code = model.NotEvaluated
				unnamed.Message = fmt.Sprintf("no annotation that was read names %s; %s, and may have one", p.Ref(), o)
			}
			problems = append(problems, unnamed.At(p.Object))
		}
		return out, problems
	}}
}

// namedApart is a plugin that a consumer, a group or a binding names.
type namedApart struct {
	by, plugin model.Ref
	forWhat    string
}

// listNamedApart lists the plugins that consumers, groups and bindings name, as they mean them: a
// KongPlugin of their namespace, else a KongClusterPlugin.
func listNamedApart(in *model.Snapshot) []namedApart {
	var out []namedApart
	add := func(o *model.Object, name, forWhat string) {
		ref := model.Ref{Group: group, Kind: pluginKind.Kind, Namespace: o.Ref.Namespace, Name: strings.TrimSpace(name)}
		if in.Get(ref) == nil {
			ref.Kind, ref.Namespace = clusterPluginKind.Kind, ""
		}
		out = append(out, namedApart{o.Ref, ref, forWhat})
	}
	for _, kind := range [][2]string{{"KongConsumer", "consumer"}, {"KongConsumerGroup", "group"}} {
		for _, o := range in.OfKind(model.GroupKind{Group: group, Kind: kind[0]}) {
			for name := range strings.SplitSeq(o.Annotations[pluginsOf], ",") {
				add(o, name, "requests of that "+kind[1]+" alone")
			}
		}
	}
	for _, o := range in.OfKind(model.GroupKind{Group: group, Kind: bindingKind}) {
		add(o, o.Text("spec", "pluginRef", "name"), "what that binds it to")
	}
	return out
}

// findPluginsApart says that answers leave out what plugins do that consumers, groups or bindings
// name. Where nothing asks who a request is from, nobody is a consumer.
func findPluginsApart(_ *build.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	asks := false
	for _, gk := range []model.GroupKind{pluginKind, clusterPluginKind} {
		asks = asks || slices.ContainsFunc(in.OfKind(gk), func(o *model.Object) bool {
			return slices.Contains(authenticatorTypes(), o.Text("plugin"))
		})
	}
	var out []model.Problem
	for _, n := range listNamedApart(in) {
		if o := in.Get(n.plugin); o != nil && (asks || n.by.Kind == bindingKind) {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
				"%s names %s: it is in force for %s, which is not evaluated", n.by, n.plugin, n.forWhat)}.At(o))
		}
	}
	return out
}

// listGlobalPlugins are the global plugins, by type.
func listGlobalPlugins(in *model.Snapshot) map[string][]*model.Object {
	out := map[string][]*model.Object{}
	for _, o := range in.OfKind(model.GroupKind{Group: group, Kind: "KongClusterPlugin"}) {
		if o.Labels["global"] == "true" {
			out[o.Text("plugin")] = append(out[o.Text("plugin")], o)
		}
	}
	return out
}

// checkMixedBackends finds policies that a rule does not use because its backends do not all name
// the same one.
func checkMixedBackends(_ *policy.Kind, g *topology.Graph, _ *model.Snapshot) policy.AttachedCheck {
	return func(p *policy.Policy, at []topology.NodeID) (string, []model.Problem) {
		var rules []string
		for _, id := range at {
			for _, rule := range g.Parents(topology.Traffic, id) {
				if g.Node(rule).Role != topology.Rule || !haveDifferentPolicies(g, rule) {
					continue
				}
				ref := g.Node(rule).Ref
				p.Fail(ref, "the backends of "+ref.String()+" do not all name the same KongUpstreamPolicy")
				rules = append(rules, ref.String())
			}
		}
		if rules == nil {
			return "", nil
		}
		slices.Sort(rules)
		return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.PolicyInError,
			Message: "it is not in force for " + strings.Join(slices.Compact(rules), ", ") +
				": not all backends there name it"}.At(p.Object)}
	}
}

// haveDifferentPolicies reports whether the backends of a rule name different policies, or some
// none.
func haveDifferentPolicies(g *topology.Graph, rule topology.NodeID) bool {
	var names []string
	for _, id := range g.Children(topology.Traffic, rule) {
		if n := g.Node(id); n.Role == topology.Backend {
			name := ""
			if n.Object != nil {
				name = n.Object.Annotations[upstreamPolicyOf]
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return len(slices.Compact(names)) > 1
}

// findDuplicates reports plugins of one type that a route, a rule or a Service names.
func findDuplicates(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		first := map[string]policy.Attached{}
		for _, a := range at(id) {
			kind := a.Policy.Object.Text("plugin")
			if b, met := first[kind]; met && b.Policy != a.Policy {
				out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
					"%s and %s are plugins of type %s for %s: Kong takes one of them, cannot tell which",
					b.Policy.Ref(), a.Policy.Ref(), kind, g.Node(id).Ref),
					Hint: "name one of them"}.At(a.Policy.Object))
			} else {
				first[kind] = a
			}
		}
	}
	return out
}

// upstreamAncestors are the conditions of a KongUpstreamPolicy, towards every Service that names
// it.
func upstreamAncestors(in status.Input) []status.Ancestor {
	var out []status.Ancestor
	unread := slices.ContainsFunc(in.Kind.Gaps().Of(in.Outcome.Policy),
		func(gap resolve.Gap) bool { return slices.Contains(gatewayapi.RouteKinds(), gap.Kind) })
	for _, id := range in.Outcome.Targets {
		ref := in.Resolution.Node(id).Ref
		ref.Group = "core"
		c := []status.Condition{{Type: "Accepted", Status: "True", Reason: "Accepted",
			Message: "the policy is accepted"}, {Type: "Programmed", Status: "True", Reason: "Programmed",
			Message: "the policy is programmed"}}
		for _, rule := range in.Resolution.Graph.Parents(topology.Traffic, id) {
			if why := in.Outcome.Policy.Faults[in.Resolution.Node(rule).Ref]; why != "" {
				c = []status.Condition{{Type: "Accepted", Status: "False", Reason: "Conflicted", Message: why},
					{Type: "Programmed", Status: "False", Reason: "Pending", Message: why}}
			}
		}
		if unread {
			why := "depends on routes that are forbidden"
			c = []status.Condition{{Type: "Accepted", Status: "Unknown", Reason: "NotEvaluated", Message: why},
				{Type: "Programmed", Status: "Unknown", Reason: "NotEvaluated", Message: why}}
		}
		out = append(out, status.Ancestor{Ref: &ref, Controller: controller, Conditions: c})
	}
	return out
}
