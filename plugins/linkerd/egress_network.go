package linkerd

import (
	"net/netip"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findClusterOverlap is a network of an EgressNetwork that overlaps one of the cluster, exceptions
// taken out; "" if none does.
func findClusterOverlap(o *model.Object, set settings) string {
	for _, n := range o.Body.At("spec", "networks").Items {
		own, ok := parsePrefix(n.Text("cidr"))
		if !ok {
			continue
		}
		var except []netip.Prefix
		for _, e := range n.Field("except").Items {
			if p, ok := parsePrefix(e.Text()); ok {
				except = append(except, p)
			}
		}
		for _, text := range set.cluster {
			of, ok := parsePrefix(text)
			switch {
			case !ok:
			case containsNetwork(own, of) && hasRemainder(of, except), containsNetwork(of, own) &&
				hasRemainder(own, except):
				return n.Text("cidr") + " meets " + text
			}
		}
	}
	return ""
}

// hasRemainder reports whether anything of a network is left when others are taken out of it.
func hasRemainder(p netip.Prefix, except []netip.Prefix) bool {
	inside := false
	for _, e := range except {
		if containsNetwork(e, p) {
			return false
		}
		inside = inside || containsNetwork(p, e)
	}
	if !inside {
		return true
	}
	low := netip.PrefixFrom(p.Addr(), p.Bits()+1)
	bytes := p.Addr().AsSlice()
	bytes[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	addr, _ := netip.AddrFromSlice(bytes)
	return hasRemainder(low, except) || hasRemainder(netip.PrefixFrom(addr, p.Bits()+1), except)
}

// egressConditions is the condition that Linkerd writes about EgressNetworks (ST apply).
func egressConditions(r *resolve.Resolution, _ *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	set := readSettings(r.Settings)
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		c := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted",
			Message: "no network meets one of the cluster"}
		if what := findClusterOverlap(f.Policy.Object, set); what != "" {
			c = status.Condition{Type: "Accepted", Status: "False", Reason: "EgressReasonNetworkOverlap",
				Message: "networks overlap those of the cluster: " + what}
		}
		out[f.Policy] = []status.Ancestor{{Conditions: []status.Condition{c}}}
	}
	return out
}

// newSelfFinder finds the EgressNetwork as what it is about.
func newSelfFinder(g *topology.Graph, _ *model.Snapshot, _ model.Settings) policy.PointFinder {
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		if id := findNode(g, p.Object.Ref, egressRole); id != topology.None {
			return []topology.NodeID{id}, nil
		}
		return nil, nil
	}
}

// newEgressSituator is what an EgressNetwork says of the traffic that no route takes.
func newEgressSituator(g *topology.Graph, in *model.Snapshot,
	s model.Settings) func(topology.NodeID) *policy.Situation {
	if !isPresent(in, s) {
		return nil
	}
	set := readSettings(s)
	return func(id topology.NodeID) *policy.Situation {
		if g.Node(id).Role != egressRole {
			return nil
		}
		refused := findClusterOverlap(g.Node(id).Object, set) != ""
		return &policy.Situation{Key: "", Place: func(*policy.Policy) (topology.NodeID, topology.Role) {
			return id,
				egressRole
		},
			Fold: func(layers []*policy.Policy) merge.PlanFunc {
				return func(merge.Stack) ([]merge.Unit, []merge.Effect) {
					var m merge.Output
					for i, l := range layers {
						for _, name := range []string{"networks", "trafficPolicy"} {
							v := l.Object.Get("spec", name)
							switch {
							case v == nil:
							case refused:
								m.Lose(merge.KeyPath(name), v, i, merge.Invalid)
							default:
								m.Take(merge.KeyPath(name), v, i)
							}
						}
					}
					return m.Units, m.Effects
				}
			}}
	}
}
