package attach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// limitAncestors keeps a policy to as many ancestors as its status has room for, if the kind
// refuses others (gep713 P38). The ancestors are its targets in the order of its references; of a
// backend the Gateways with a route to it, those that the status names already first, then the
// older ones. What other controllers report takes room as well.
func (k *attacher) limitAncestors(p *policy.Policy, own []policy.Attached) []policy.Attached {
	if !k.Status.Refuses {
		return own
	}
	room := policy.MaxAncestors
	ours := map[model.Ref]bool{}
	for _, e := range p.Object.Body.At("status", "ancestors").Items {
		if !slices.Contains(k.Controllers, e.Text("controllerName")) {
			room--
			continue
		}
		ref := e.Field("ancestorRef")
		ours[model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: cmp.Or(ref.Text("namespace"),
			p.Ref().Namespace), Name: ref.Text("name")}] = true
	}
	var refused []model.Ref
	has := map[model.Ref]bool{}
	fits := func(ref model.Ref) bool {
		if !has[ref] && len(has) >= room {
			refused = append(refused, ref)
			return false
		}
		has[ref] = true
		return true
	}
	var out []policy.Attached
	for _, a := range own {
		n := k.res.Node(a.Node)
		switch n.Role {
		case topology.Gateway, topology.Route:
			if !fits(n.Ref) {
				to := k.TargetListOf(p)
				to.Nodes = slices.DeleteFunc(to.Nodes, func(id topology.NodeID) bool { return id == a.Node })
				continue
			}
		case topology.Backend:
			for _, gateway := range k.orderGateways(n.Ref, ours) {
				if !fits(gateway) {
					p.Fail(gateway, "its status has no room for another ancestor")
				}
			}
		}
		out = append(out, a)
	}
	k.refuseAncestors(p, refused)
	return out
}

// orderGateways lists the Gateways of the kind's vendor with a route to a backend: those of a set
// first, then the older ones, then by name.
func (k *attacher) orderGateways(backend model.Ref, first map[model.Ref]bool) []model.Ref {
	g := k.res.Graph
	out := slices.DeleteFunc(g.GatewaysAbove(backend), func(ref model.Ref) bool {
		return !slices.ContainsFunc(g.Lookup(ref),
			func(id topology.NodeID) bool { return ManagesGateway(k.Kind, g, id) })
	})
	slices.SortStableFunc(out, func(a, b model.Ref) int {
		switch {
		case first[a] && !first[b]:
			return -1
		case first[b] && !first[a]:
			return 1
		}
		x, y := k.res.Snapshot.Get(a), k.res.Snapshot.Get(b)
		if x == nil || y == nil || x.Created.IsZero() || y.Created.IsZero() {
			return a.Compare(b)
		}
		return cmp.Or(x.Created.Compare(y.Created), a.Compare(b))
	})
	return out
}

// refuseAncestors remembers and reports what a policy is refused for.
func (k *attacher) refuseAncestors(p *policy.Policy, refused []model.Ref) {
	if len(refused) == 0 {
		return
	}
	if k.refusedAncestors == nil {
		k.refusedAncestors = map[*policy.Policy][]model.Ref{}
	}
	k.refusedAncestors[p] = refused
	names := make([]string, len(refused))
	for i, ref := range refused {
		names[i] = ref.String()
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if rest := len(names) - 5; rest > 0 {
		names = append(names[:5], fmt.Sprintf("%d more", rest))
	}
	k.res.Problems = append(k.res.Problems, model.Problem{Severity: model.Warning, Code: model.AncestorLimit,
		Message: fmt.Sprintf(
			"the status of %s allows %d ancestors, including those of other controllers: the policy is rejected for %s and not in force there", p.Ref(), policy.MaxAncestors, strings.Join(names, ", ")),
		Hint: "split the policy, or attach its routes to fewer Gateways"}.At(p.Object))
}
