package envoygateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
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
	c := &clients{res: r, kind: k, held: held, http: httpListeners(r.Graph, r.Snapshot)}
	return inBooks(r, all, c.judge)
}

// clients judges ClientTrafficPolicies; held are the targets that have one, http the listeners that may share a port.
type clients struct {
	res  *resolve.Resolution
	kind *resolve.Kind
	held map[topology.NodeID]bool
	http []httpListener
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
	}
	if faults := c.faults(p.target); len(faults) > 0 {
		book.refuse(only(ancestor), "Invalid", "%s", sentence(strings.Join(faults, "\n")))
	}
	if sections := c.sections(p); len(sections) > 0 {
		book.say(only(ancestor), "Overridden", "There are existing ClientTrafficPolicies that are overriding these sections %s", inBrackets(sections))
	}
	book.accept(only(ancestor))
	book.warn(only(ancestor), p.policy)
}

// faults is what is wrong with a policy for the target, listener by listener: of those that no policy below has.
func (c *clients) faults(target model.Ref) []string {
	var out []string
	for _, l := range c.http {
		if !l.under(target) || target.Section == "" && (c.has(l.owner.In(l.name)) || l.owner != target && c.has(l.owner) && l.shared(c.http, l.owner) == "") {
			continue
		}
		if fault := l.shared(c.http, target); fault != "" {
			out = append(out, fault)
		}
	}
	return out
}

// has reports whether a target has a policy.
func (c *clients) has(target model.Ref) bool {
	return slices.ContainsFunc(c.res.Graph.Lookup(target), func(id topology.NodeID) bool { return c.held[id] })
}

// sections are the listeners below an object that policies of their own keep from the one for the object, for the listener or for the
// ListenerSet that has it, by name: two that have one name are named twice.
func (c *clients) sections(p *place) []string {
	if p.target.Section != "" {
		return nil
	}
	var out []string
	collect := func(owner topology.NodeID, whole bool) {
		ref := c.res.Node(owner).Ref
		for _, name := range c.res.Graph.Sections(ref) {
			for _, id := range c.res.Graph.Lookup(ref.In(name)) {
				if c.held[id] || whole && !c.faulty(ref, name) {
					out = append(out, name)
				}
			}
		}
	}
	collect(p.object, false)
	if c.res.Node(p.object).Role == topology.Gateway {
		for _, set := range c.res.Graph.SetsOf(p.object) {
			collect(set, c.held[set] && takes(c.res.Graph, set))
		}
	}
	slices.Sort(out)
	return out
}

// faulty reports whether a policy for a whole ListenerSet is in error at one of its listeners, which it then leaves to the Gateway's.
func (c *clients) faulty(set model.Ref, name string) bool {
	return slices.ContainsFunc(c.http, func(l httpListener) bool { return l.owner == set && l.name == name && l.shared(c.http, set) != "" })
}

// takes reports whether a ListenerSet is one of its Gateway's, whatever becomes of its listeners.
func takes(g *topology.Graph, set topology.NodeID) bool {
	state := g.Set(set).State
	return state == topology.SetAccepted || state == topology.SetListenersNotValid
}
