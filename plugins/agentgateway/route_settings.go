package agentgateway

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// newFilterReader reads a filter of a route's rule, the first of its type.
func newFilterReader(sort, field string) policy.BuiltinFunc {
	return func(n *topology.Node) (any, []string) {
		rule := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
		for i, f := range rule.Field("filters").Items {
			if v := f.Field(field); f.Text("type") == sort && v.IsObject() {
				return v.ScalarOrBody(), []string{"spec", "rules", strconv.Itoa(n.Index), "filters",
					strconv.Itoa(i), field}
			}
		}
		return nil, nil
	}
}

// readOwnPolicies are the policies that an AgentgatewayBackend has for itself.
func readOwnPolicies(n *topology.Node) (any, []string) {
	if n.Ref.GroupKind() != backendKind {
		return nil, nil
	}
	return readObject(n.Object.Body.At("spec", "policies"), "spec", "policies")
}

func readObject(v model.Body, at ...string) (any, []string) {
	if !v.IsObject() {
		return nil, nil
	}
	return v.ScalarOrBody(), at
}

// backendPart is a provider or target of an AgentgatewayBackend.
type backendPart struct {
	name     string
	policies []string // where its own policies stand
}

// listParts lists the providers and targets in the order in which they are written.
func listParts(o *model.Object) []backendPart {
	spec := o.Body.Field("spec")
	var out []backendPart
	for i, t := range spec.At("mcp", "targets").Items {
		out = append(out, backendPart{t.Text("name"), []string{"spec", "mcp", "targets", strconv.Itoa(i),
			"static", "policies"}})
	}
	for i, g := range spec.At("ai", "groups").Items {
		for j, p := range g.Field("providers").Items {
			out = append(out, backendPart{p.Text("name"), []string{"spec", "ai", "groups", strconv.Itoa(i),
				"providers", strconv.Itoa(j), "policies"}})
		}
	}
	if !spec.At("ai", "provider").IsNull() {
		out = append(out, backendPart{"backend", nil}) // its policies are those of the backend
	}
	return slices.DeleteFunc(out, func(p backendPart) bool { return p.name == "" })
}

// listPartNames are the names by which policies can be for a part of an AgentgatewayBackend.
func listPartNames(o *model.Object) []string {
	var out []string
	for _, p := range listParts(o) {
		out = append(out, p.name)
	}
	return out
}

// readPartPolicies are the policies that a provider or target has for itself.
func readPartPolicies(n *topology.Node) (any, []string) {
	if n.Ref.GroupKind() != backendKind {
		return nil, nil
	}
	for _, p := range listParts(n.Object) {
		if p.name == n.Ref.Section && p.policies != nil {
			return readObject(n.Object.Body.At(p.policies...), p.policies...)
		}
	}
	return nil, nil
}
