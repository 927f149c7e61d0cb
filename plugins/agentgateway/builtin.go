package agentgateway

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// filterOf reads a filter of a route's rule, the first of its type.
func filterOf(sort, field string) policy.BuiltinOf {
	return func(n *topology.Node) (any, []string) {
		rule := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
		for i, f := range rule.Field("filters").Items {
			if v := f.Field(field); f.Text("type") == sort && v.IsObject() {
				return v.Part(), []string{"spec", "rules", strconv.Itoa(n.Index), "filters", strconv.Itoa(i), field}
			}
		}
		return nil, nil
	}
}

// ownPolicies are the policies that an AgentgatewayBackend has for itself.
func ownPolicies(n *topology.Node) (any, []string) {
	if n.Ref.GroupKind() != backendKind {
		return nil, nil
	}
	return object(n.Object.Body.At("spec", "policies"), "spec", "policies")
}

func object(v model.Body, at ...string) (any, []string) {
	if !v.IsObject() {
		return nil, nil
	}
	return v.Part(), at
}

// part is a provider or target of an AgentgatewayBackend.
type part struct {
	name     string
	policies []string // where its own policies stand
}

// partsOf lists the providers and targets in the order in which they are written.
func partsOf(o *model.Object) []part {
	spec := o.Body.Field("spec")
	var out []part
	for i, t := range spec.At("mcp", "targets").Items {
		out = append(out, part{t.Text("name"), []string{"spec", "mcp", "targets", strconv.Itoa(i), "static", "policies"}})
	}
	for i, g := range spec.At("ai", "groups").Items {
		for j, p := range g.Field("providers").Items {
			out = append(out, part{p.Text("name"), []string{"spec", "ai", "groups", strconv.Itoa(i), "providers", strconv.Itoa(j), "policies"}})
		}
	}
	if !spec.At("ai", "provider").IsNull() {
		out = append(out, part{"backend", nil}) // its policies are those of the backend
	}
	return slices.DeleteFunc(out, func(p part) bool { return p.name == "" })
}

// parts are the names by which policies can be for a part of an AgentgatewayBackend.
func parts(o *model.Object) []string {
	var out []string
	for _, p := range partsOf(o) {
		out = append(out, p.name)
	}
	return out
}

// partPolicies are the policies that a provider or target has for itself.
func partPolicies(n *topology.Node) (any, []string) {
	if n.Ref.GroupKind() != backendKind {
		return nil, nil
	}
	for _, p := range partsOf(n.Object) {
		if p.name == n.Ref.Section && p.policies != nil {
			return object(n.Object.Body.At(p.policies...), p.policies...)
		}
	}
	return nil, nil
}
