package envoygateway

import (
	"cmp"
	"slices"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// policyTarget is one target of a policy as the controller meets it.
type policyTarget struct {
	policy   *policy.Policy
	target   model.Ref       // with the section that the policy names
	object   topology.NodeID // of the whole object
	node     topology.NodeID // of the target; None: the section does not exist
	holder   *policy.Policy  // the policy that has the target; nil: this one does
	repeated bool            // the policy names the target once more: it is in its own way
	order    targetOrder     // among the policy's targets
}

// isNamedTwice reports whether a policy names a target more than once. What a selector finds is not
// named.
func isNamedTwice(p *policy.Policy, at policyTarget) bool {
	n := 0
	for _, t := range p.Refs {
		if t.Selection == nil && t.Ref == at.target {
			n++
		}
	}
	return n > 1 && at.order.listed > 0
}

// targetOrder is the place of a target among those of its policy: what selectors find comes first,
// by age, then references as they are listed.
type targetOrder struct {
	listed  int // 0: selected
	created time.Time
}

func (t targetOrder) compare(o targetOrder) int {
	return cmp.Or(cmp.Compare(t.listed, o.listed), t.created.Compare(o.created))
}

// findTargetOrder finds out how a policy means a target; o is the whole object.
func findTargetOrder(p *policy.Policy, target model.Ref, o *model.Object) targetOrder {
	var out targetOrder
	for i, t := range p.Refs {
		switch {
		case t.Selection == nil && t.Ref == target && out.listed == 0:
			out = targetOrder{listed: i + 1}
		case t.Selection != nil && target.Section == "" && t.Ref.GroupKind() == o.Ref.GroupKind() &&
			t.Selection.SelectsObject(o):
			return targetOrder{created: o.Created}
		}
	}
	return out
}

// passNumber is the place of a target in the controller's order: rules, routes, listeners,
// ListenerSets, Gateways.
func (p *policyTarget) passNumber() int {
	route, set := isRoute(p.target.GroupKind()), gatewayapi.IsListenerSet(p.target.GroupKind())
	switch {
	case route && p.target.Section != "":
		return 0
	case route:
		return 1
	case p.target.Section != "":
		return 2
	case set:
		return 3
	}
	return 4
}

// isRoute reports whether a kind is one of the routes.
func isRoute(gk model.GroupKind) bool { return slices.Contains(gatewayapi.RouteKinds(), gk) }

// listPolicyTargets lists the targets of all policies of a kind that are there, in the controller's
// order: by age and name of the policies within a pass. What is not managed, and what is not found,
// is left out: no status speaks of it.
func listPolicyTargets(r *resolve.Resolution, k *resolve.Kind, fates []*status.PolicyOutcome) []policyTarget {
	var out []policyTarget
	for _, f := range fates {
		if f.Policy.Refused {
			continue
		}
		for _, id := range f.Targets {
			n := r.Node(id)
			p := policyTarget{policy: f.Policy, target: n.Ref, node: id}
			if n.Role == topology.Rule {
				p.target = n.Ref.WithoutSection().WithSection(findRuleName(r, f.Policy, n.Ref))
			}
			out = appendTarget(out, r, k, p)
			if again := len(out) > 0 && out[len(out)-1].node == id && isNamedTwice(f.Policy, out[len(out)-1]); again {
				p.repeated = true
				out = appendTarget(out, r, k, p)
			}
		}
		for _, miss := range f.Missed {
			if ref := miss.Ref; ref.Section != "" && miss.Selection == nil &&
				ref.Namespace == f.Policy.Ref().Namespace && k.AllowsTarget(ref) {
				out = appendTarget(out, r, k, policyTarget{policy: f.Policy, target: ref, node: topology.None})
			}
		}
	}
	setHolders(k, out)
	order := numberPolicies(k, fates)
	slices.SortStableFunc(out, func(a, b policyTarget) int {
		if c := a.passNumber() - b.passNumber(); c != 0 {
			return c
		}
		if c := order[a.policy] - order[b.policy]; c != 0 {
			return c
		}
		return cmp.Or(a.order.compare(b.order), a.target.Compare(b.target))
	})
	return out
}

// setHolders finds who has each target: the first policy there, in error or not.
func setHolders(k *resolve.Kind, all []policyTarget) {
	at := map[topology.NodeID][]policy.Attached{}
	for _, p := range all {
		if p.node != topology.None && !p.repeated {
			at[p.node] = append(at[p.node], policy.Attached{Policy: p.policy, Node: p.node, Ref: -1})
		}
	}
	for i := range all {
		if p := &all[i]; p.repeated {
			p.holder = p.policy
		} else if len(at[p.node]) > 1 {
			if ordered, _ := k.Order(at[p.node]); ordered[0].Policy != p.policy {
				p.holder = ordered[0].Policy
			}
		}
	}
}

// findRuleName is the name by which a policy calls a rule.
func findRuleName(r *resolve.Resolution, p *policy.Policy, rule model.Ref) string {
	for _, t := range p.Refs {
		if t.Ref.Section != "" && t.Ref.WithoutSection() == rule.WithoutSection() &&
			slices.ContainsFunc(r.Graph.Lookup(t.Ref),
				func(id topology.NodeID) bool { return r.Node(id).Ref == rule }) {
			return t.Ref.Section
		}
	}
	return rule.Section
}

// appendTarget adds a target if its object is there and managed.
func appendTarget(out []policyTarget, r *resolve.Resolution, k *resolve.Kind, p policyTarget) []policyTarget {
	found := r.Graph.Lookup(p.target.WithoutSection())
	if len(found) == 0 || r.Node(found[0]).Object == nil {
		return out
	}
	p.object = found[0]
	p.order = findTargetOrder(p.policy, p.target, r.Node(p.object).Object)
	switch n := r.Node(p.object); {
	case n.Role == topology.Route && len(listParents(r, k, p.object)) == 0:
		return out
	case n.Role == topology.Gateway && !k.ManagesGateway(p.object), n.Role == topology.ListenerSet &&
		!isManagedSet(r, k, p.object):
		return out
	}
	return append(out, p)
}

// numberPolicies numbers the policies by the kind's comparator.
func numberPolicies(k *resolve.Kind, fates []*status.PolicyOutcome) map[*policy.Policy]int {
	all := make([]policy.Attached, len(fates))
	for i, f := range fates {
		all[i] = policy.Attached{Policy: f.Policy, Ref: -1}
	}
	ordered, _ := k.Order(all)
	out := make(map[*policy.Policy]int, len(ordered))
	for i, a := range ordered {
		out[a.Policy] = i
	}
	return out
}

// parent is a parentRef of a route to something that is managed.
type parent struct {
	ref       model.Ref         // as it is written
	port      int32             // of the first one that is so written; 0: none
	owner     topology.NodeID   // the Gateway or the ListenerSet
	listeners []topology.NodeID // those that take the route, whether or not a hostname is left
}

// listParents lists the managed parents of a route, in order.
func listParents(r *resolve.Resolution, k *resolve.Kind, route topology.NodeID) []parent {
	var out []parent
	for _, a := range r.Graph.Attachments(route) {
		found := r.Graph.Lookup(a.Parent.WithoutSection())
		if len(found) == 0 || r.Node(found[0]).Object == nil || a.Implicit || a.Unreported {
			continue
		}
		owner := found[0]
		switch r.Node(owner).Role {
		case topology.Gateway:
			if !k.ManagesGateway(owner) {
				continue
			}
		case topology.ListenerSet:
			if !isManagedSet(r, k, owner) {
				continue
			}
		default:
			continue
		}
		at := slices.IndexFunc(out, func(p parent) bool { return p.ref == a.Parent })
		if at < 0 {
			at = len(out)
			out = append(out, parent{ref: a.Parent, port: a.Port, owner: owner})
		}
		if (a.State == topology.Accepted || a.State == topology.NoMatchingListenerHostname) &&
			a.Listener != topology.None {
			out[at].listeners = append(out[at].listeners, a.Listener)
		}
	}
	return out
}

// isManagedSet reports whether a ListenerSet is managed: its Gateway is in the input and one of the
// controller's.
func isManagedSet(r *resolve.Resolution, k *resolve.Kind, set topology.NodeID) bool {
	facts := r.Graph.ListenerSet(set)
	return facts.Gateway != topology.None && k.ManagesGateway(facts.Gateway)
}
