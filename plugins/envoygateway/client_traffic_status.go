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
func clientConditions(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	all := listPolicyTargets(r, k, fates)
	held := map[topology.NodeID]bool{}
	for i := range all {
		held[all[i].node] = all[i].node != topology.None
	}
	c := &clientScopes{res: r, kind: k, held: held, http: listHTTPListeners(r.Graph, r.Snapshot)}
	return writeConditions(r, all, c.writeTarget)
}

// clientScopes judges ClientTrafficPolicies; held are the targets that have one, http the listeners
// that may share a port.
type clientScopes struct {
	res  *resolve.Resolution
	kind *resolve.Kind
	held map[topology.NodeID]bool
	http []httpListener
}

func (c *clientScopes) writeTarget(p *policyTarget, book *statusWriter) {
	ancestor := p.target
	switch {
	case p.node == topology.None:
		book.setRefused(listOne(ancestor), "TargetNotFound", "%s", formatMissingSection(p))
		return
	case p.holder != nil && p.target.Section != "":
		book.setRefused(listOne(ancestor), "Conflicted",
			"Unable to target section of %s, another %s has already attached to it", p.target.Name,
			c.kind.GroupKind.Kind)
		return
	case p.holder != nil:
		book.setRefused(listOne(ancestor), "Conflicted",
			"Unable to target %s %s, another %s has already attached to it", p.target.Kind, p.target.Name,
			c.kind.GroupKind.Kind)
		return
	}
	if faults := c.findFaults(p.target); len(faults) > 0 {
		book.setRefused(listOne(ancestor), "Invalid", "%s", formatSentence(strings.Join(faults, "\n")))
	}
	if sections := c.overridingSections(p); len(sections) > 0 {
		book.setTrue(listOne(ancestor), "Overridden",
			"There are existing ClientTrafficPolicies that are overriding these sections %s", formatList(sections))
	}
	book.setAccepted(listOne(ancestor))
	book.setDeprecated(listOne(ancestor), p.policy)
}

// findFaults is what is wrong with a policy for the target, listener by listener: of those that no
// policy below has.
func (c *clientScopes) findFaults(target model.Ref) []string {
	var out []string
	for _, l := range c.http {
		if !l.isBelow(target) || target.Section == "" && (c.hasPolicy(l.owner.WithSection(l.name)) ||
			l.owner != target && c.hasPolicy(l.owner) && l.explainSharedPort(c.http, l.owner) == "") {
			continue
		}
		if fault := l.explainSharedPort(c.http, target); fault != "" {
			out = append(out, fault)
		}
	}
	return out
}

// hasPolicy reports whether a target has a policy.
func (c *clientScopes) hasPolicy(target model.Ref) bool {
	return slices.ContainsFunc(c.res.Graph.Lookup(target), func(id topology.NodeID) bool { return c.held[id] })
}

// overridingSections are the listeners below an object that policies of their own keep from the one
// for the object, for the listener or for the ListenerSet that has it, by name: two that have one
// name are named twice.
func (c *clientScopes) overridingSections(p *policyTarget) []string {
	if p.target.Section != "" {
		return nil
	}
	var out []string
	collect := func(owner topology.NodeID, whole bool) {
		ref := c.res.Node(owner).Ref
		for _, name := range c.res.Graph.Sections(ref) {
			for _, id := range c.res.Graph.Lookup(ref.WithSection(name)) {
				if c.held[id] || whole && !c.isFaulty(ref, name) {
					out = append(out, name)
				}
			}
		}
	}
	collect(p.object, false)
	if c.res.Node(p.object).Role == topology.Gateway {
		for _, set := range c.res.Graph.ListenerSetsOf(p.object) {
			collect(set, c.held[set] && isAcceptedSet(c.res.Graph, set))
		}
	}
	slices.Sort(out)
	return out
}

// isFaulty reports whether a policy for a whole ListenerSet is in error at one of its listeners,
// which it then leaves to the Gateway's.
func (c *clientScopes) isFaulty(set model.Ref, name string) bool {
	return slices.ContainsFunc(c.http, func(l httpListener) bool {
		return l.owner == set && l.name == name && l.explainSharedPort(c.http, set) != ""
	})
}

// isAcceptedSet reports whether a ListenerSet is one of its Gateway's, whatever becomes of its
// listeners.
func isAcceptedSet(g *topology.Graph, set topology.NodeID) bool {
	state := g.ListenerSet(set).State
	return state == topology.SetAccepted || state == topology.SetListenersNotValid
}
