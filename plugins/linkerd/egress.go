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

// overlap is a network of an EgressNetwork that meets one of the cluster, exceptions taken out; "" if none does.
func overlap(o *model.Object, set settings) string {
	for _, n := range o.Body.At("spec", "networks").Items {
		own, ok := prefix(n.Text("cidr"))
		if !ok {
			continue
		}
		var except []netip.Prefix
		for _, e := range n.Field("except").Items {
			if p, ok := prefix(e.Text()); ok {
				except = append(except, p)
			}
		}
		for _, text := range set.cluster {
			of, ok := prefix(text)
			switch {
			case !ok:
			case within(own, of) && left(of, except), within(of, own) && left(own, except):
				return n.Text("cidr") + " meets " + text
			}
		}
	}
	return ""
}

// left reports whether anything of a network is left when others are taken out of it.
func left(p netip.Prefix, except []netip.Prefix) bool {
	inside := false
	for _, e := range except {
		if within(e, p) {
			return false
		}
		inside = inside || within(p, e)
	}
	if !inside {
		return true
	}
	low := netip.PrefixFrom(p.Addr(), p.Bits()+1)
	bytes := p.Addr().AsSlice()
	bytes[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	addr, _ := netip.AddrFromSlice(bytes)
	return left(low, except) || left(netip.PrefixFrom(addr, p.Bits()+1), except)
}

// egressAccepted is the condition that Linkerd writes about EgressNetworks (ST apply).
func egressAccepted(r *resolve.Resolution, _ *resolve.Kind, fates []*status.Fate) map[*policy.Policy][]status.Ancestor {
	set := readSettings(r.Settings)
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		c := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted", Message: "no network meets one of the cluster"}
		if what := overlap(f.Policy.Object, set); what != "" {
			c = status.Condition{Type: "Accepted", Status: "False", Reason: "EgressReasonNetworkOverlap", Message: "networks overlap those of the cluster: " + what}
		}
		out[f.Policy] = []status.Ancestor{{Conditions: []status.Condition{c}}}
	}
	return out
}

// itself finds the EgressNetwork as what it is about.
func itself(g *topology.Graph, _ *model.Snapshot, _ model.Settings) policy.LegFinder {
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		if id := lookup(g, p.Object.Ref, egressRole); id != topology.None {
			return []topology.NodeID{id}, nil
		}
		return nil, nil
	}
}

// egress is what an EgressNetwork says of the traffic that no route takes.
func egress(g *topology.Graph, in *model.Snapshot, s model.Settings) func(topology.NodeID) *policy.Situation {
	if !present(in, s) {
		return nil
	}
	set := readSettings(s)
	return func(id topology.NodeID) *policy.Situation {
		if g.Node(id).Role != egressRole {
			return nil
		}
		refused := overlap(g.Node(id).Object, set) != ""
		return &policy.Situation{Key: "", Place: func(*policy.Policy) (topology.NodeID, topology.Role) { return id, egressRole },
			Fold: func(layers []*policy.Policy) merge.PlanFunc {
				return func(merge.Stack) ([]merge.Unit, []merge.Effect) {
					var m merge.Output
					for i, l := range layers {
						for _, name := range []string{"networks", "trafficPolicy"} {
							v := l.Object.Get("spec", name)
							switch {
							case v == nil:
							case refused:
								m.Lose(merge.Keys(name), v, i, merge.Invalid)
							default:
								m.Take(merge.Keys(name), v, i)
							}
						}
					}
					return m.Units, m.Effects
				}
			}}
	}
}
