package envoygateway

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// clientConditions are those that the controller writes about ClientTrafficPolicies.
func clientConditions(r *resolve.Resolution, k *resolve.Kind, fates []*status.Fate) map[*policy.Policy][]status.Ancestor {
	all := places(r, k, fates)
	held := map[topology.NodeID]bool{}
	for i := range all {
		held[all[i].node] = all[i].node != topology.None
	}
	c := &clients{res: r, kind: k, held: held}
	return inBooks(r, all, c.judge)
}

// clients judges ClientTrafficPolicies; held are the targets that have one.
type clients struct {
	res  *resolve.Resolution
	kind *resolve.Kind
	held map[topology.NodeID]bool
}

func (c *clients) judge(p *place, book *ledger) {
	ancestor := p.target
	switch {
	case p.node == topology.None:
		book.refuse(only(ancestor), "TargetNotFound", "%s", missing(p))
		return
	case p.holder != nil && p.target.Section != "":
		book.refuse(only(ancestor), "Conflicted", "Unable to target section of %s, another %s has already attached to it", p.target.Name, c.kind.GroupKind.Kind)
		return
	case p.holder != nil:
		book.refuse(only(ancestor), "Conflicted", "Unable to target %s %s, another %s has already attached to it", p.target.Kind, p.target.Name, c.kind.GroupKind.Kind)
		return
	case p.policy.Fault != "":
		book.refuse(only(ancestor), "Invalid", "%s", p.policy.Fault)
	}
	if sections := c.sections(p); len(sections) > 0 {
		book.say(only(ancestor), "Overridden", "There are existing ClientTrafficPolicies that are overriding these sections %s", bracketed(sections))
	}
	book.accept(only(ancestor))
	book.warn(only(ancestor), p.policy)
}

// sections are the listeners below an object that policies of their own keep from the one for the object: for the listener, or for the
// ListenerSet that has it.
func (c *clients) sections(p *place) []string {
	if p.target.Section != "" {
		return nil
	}
	var out []string
	collect := func(owner topology.NodeID, whole bool) {
		ref := c.res.Node(owner).Ref
		for _, name := range c.res.Graph.Sections(ref) {
			for _, id := range c.res.Graph.Lookup(ref.In(name)) {
				if whole || c.held[id] {
					out = append(out, name)
				}
			}
		}
	}
	collect(p.object, false)
	if c.res.Node(p.object).Role == topology.Gateway {
		for _, set := range c.res.Graph.SetsOf(p.object) {
			collect(set, c.held[set])
		}
	}
	return out
}
