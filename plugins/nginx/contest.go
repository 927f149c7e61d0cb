package nginx

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// newContest says which policies meet at a target. The controller drops references to what it does
// not know before it looks for conflicts, and tells Services apart by the group as it is written
// (internal/controller/state/graph/policies.go, processPolicies and markConflictedPolicies @
// e55bfe339).
func newContest(k *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.Contest {
	v := viewOf(g, in)
	return func(a policy.Attached) (string, bool) {
		switch n := g.Node(a.Node); n.Role {
		case topology.Gateway:
			return "", isManaged(g, a.Node, k.Controllers)
		case topology.Route:
			above, open := findGateways(g, a.Node, k.Controllers)
			return "", v.routes[a.Node] != nil || len(above) == 0 && open
		case topology.Backend:
			return writtenGroup(a.Policy, n.Ref.Name), v.mayUse(n.Ref)
		}
		return "", true
	}
}

// writtenGroup is the group of the reference by which a policy names a Service, as it is written.
func writtenGroup(p *policy.Policy, name string) string {
	for _, ref := range p.Object.Body.At("spec", "targetRefs").Items {
		if ref.Text("kind") == "Service" && ref.Text("name") == name {
			return ref.Text("group")
		}
	}
	return ""
}

// findGroupsApart says which policies set the same of a Service, and do not meet because they write
// its group differently: all of them are written into one upstream, in an order that is not defined.
func findGroupsApart(k *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Backend {
			continue
		}
		all := at(id)
		for i, a := range all {
			for _, b := range all[i+1:] {
				if writtenGroup(a.Policy, n.Ref.Name) == writtenGroup(b.Policy, n.Ref.Name) ||
					merge.IsDisjoint(listAllUnits(a.Policy), listAllUnits(b.Policy), k.Rules) {
					continue
				}
				out = append(out, model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
					Message: "both " + a.Policy.Ref().String() + " and " + b.Policy.Ref().String() + " are in force at " +
						n.Ref.String() + " because they write its group differently; which of them counts where both set the same is not defined",
					Hint: `write the group of both as "" or as core: then the younger one is rejected`}.At(b.Policy.Object))
			}
		}
	}
	return out
}

// listAllUnits is what a policy sets.
func listAllUnits(p *policy.Policy) []merge.Unit {
	var out []merge.Unit
	for _, b := range p.Blocks {
		out = append(out, b.Units...)
	}
	return out
}
