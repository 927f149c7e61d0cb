package kuadrant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// tokenRateLimitPolicy is the kind for which the operator writes its statuses by a code of its own.
const tokenRateLimitPolicy = "TokenRateLimitPolicy"

// vendorGroup is that of the kinds.
const vendorGroup = "kuadrant.io"

// controller is the name under which the operator writes into the status of routes.
const controller = "kuadrant.io/policy-controller"

// policyConditions are those that the operator writes, in its words. It presumes that the
// operator's parts are installed and in sync.
func policyConditions(in status.Input) []status.Ancestor {
	kind := in.Kind.GroupKind.Kind
	accepted := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted", Message: kind +
		" has been accepted"}
	out := []status.Ancestor{{}}
	if reason, message := explainRefusal(in); reason != "" {
		accepted.Status, accepted.Reason, accepted.Message = "False", reason, message
		out[0].Conditions = []status.Condition{accepted}
		return out
	}
	out[0].Conditions = []status.Condition{accepted}
	if !isDirect(kind) {
		out[0].Conditions = append(out[0].Conditions, enforcedCondition(in))
	}
	return out
}

// isDirect reports whether a kind is enforced through other objects (DNS records, certificates),
// which manifests do not hold.
func isDirect(kind string) bool { return kind == "DNSPolicy" || kind == "TLSPolicy" }

// explainRefusal is the reason and message of a policy that is not accepted, "" if it is.
func explainRefusal(in status.Input) (reason, message string) {
	kind, f := in.Kind.GroupKind.Kind, in.Outcome
	if len(f.Targets) == 0 {
		if len(f.Missed) == 0 {
			return "TargetNotFound", kind + " target was not found"
		}
		name := f.Missed[0].Ref.Name
		if section := f.Missed[0].Ref.Section; section != "" && !isDirect(kind) {
			name += "#" + section
		}
		return "TargetNotFound", fmt.Sprintf("%s target %s was not found", kind, name)
	}
	if winner := findConflict(in); winner != "" {
		return "Conflicted", fmt.Sprintf("%s is conflicted by %s: conflicting policy", kind, winner)
	}
	if fault := f.Policy.Fault; fault != "" {
		return "Invalid", fmt.Sprintf("%s target is invalid: %s", kind, fault)
	}
	return "", ""
}

// findConflict is the strictly older policy on the same target, "" if there is none: policies
// created in one second do not conflict.
func findConflict(in status.Input) string {
	for _, ref := range in.Outcome.RejectedBy {
		o := in.Resolution.Snapshot.Get(ref)
		if created := in.Outcome.Policy.Object.Created; o == nil || created.IsZero() || o.Created.Before(created) {
			return ref.FullName()
		}
	}
	return ""
}

// enforcedCondition is whether the policy's rules are what the effective policies are made of.
func enforcedCondition(in status.Input) status.Condition {
	kind, f := in.Kind.GroupKind.Kind, in.Outcome
	c := status.Condition{Type: "Enforced", Status: "True", Reason: "Enforced"}
	by := listOverriders(in)
	switch {
	case f.Holds == 0 && len(by) == 0:
		c.Status, c.Reason, c.Message = "False", "Unknown", kind+" is not in the path to any existing routes"
	case f.Holds == 0:
		c.Status, c.Reason, c.Message = "False", "Overridden", fmt.Sprintf("%s is overridden by [%s]", kind,
			strings.Join(by, " "))
	case len(by) > 0 && kind == tokenRateLimitPolicy:
		c.Status, c.Reason, c.Message = "False", "Unknown", fmt.Sprintf(
			"%s has encountered some issues: policy rule(s) overridden: %s", kind, strings.Join(listTokenLosses(in),
				", "))
	case len(by) > 0:
		c.Message = kind + " has been partially enforced"
	default:
		c.Message = kind + " has been successfully enforced"
	}
	return c
}

// listOverriders are the policies that the operator names for what the policy does not have: those
// that have the rule, else all that contribute. For tokens, where nobody has the rule, it takes
// every policy on the path for a contributor, and so the policy itself too.
func listOverriders(in status.Input) []string {
	f := in.Outcome
	refs := f.Holders
	if in.Kind.GroupKind.Kind == tokenRateLimitPolicy {
		refs = nil
		for _, l := range f.Lost {
			refs = append(append(refs, l.Holders...), slices.Concat(l.Beside...)...)
		}
	} else {
		refs = slices.DeleteFunc(slices.Clone(refs), func(r model.Ref) bool { return r == f.Policy.Ref() })
	}
	var by []string
	for _, ref := range refs {
		by = append(by, ref.FullName())
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// listTokenLosses names each rule that is lost somewhere by the operator's id, with the locator of
// a policy that has it, else of one that took it away.
func listTokenLosses(in status.Input) []string {
	own := in.Outcome.Policy.Ref()
	var out []string
	for _, l := range in.Outcome.Lost {
		text := operatorRuleID(in.Kind.GroupKind.Kind, l.Rule)
		by := slices.DeleteFunc(slices.Concat(l.Holders, l.To), func(r model.Ref) bool { return r == own })
		if len(by) > 0 {
			text += " by " + formatLocator(by[0])
		}
		out = append(out, text)
	}
	return out
}

// formatLocator is how the operator names an object.
func formatLocator(r model.Ref) string {
	return strings.ToLower(r.Kind) + "." + r.Group + ":" + r.FullName()
}

// affectedConditions are the conditions by which the operator tells the owners of Gateways,
// listeners and routes that a policy attaches to them or above them, whoever wins. Policies on
// route rules are told nobody.
func affectedConditions(r *resolve.Resolution, k *resolve.Kind) []status.Mark {
	accepted := map[*policy.Policy]bool{}
	at := map[topology.NodeID][]string{}
	for _, f := range status.Outcomes(r, k) {
		reason, _ := explainRefusal(status.Input{Resolution: r, Kind: k, Outcome: f})
		accepted[f.Policy] = reason == "" && !f.Policy.Refused
		for _, id := range f.Targets {
			at[id] = nil
		}
	}
	for id := range at {
		for _, p := range k.PoliciesAt(id) {
			if accepted[p] {
				at[id] = append(at[id], p.Ref().FullName())
			}
		}
	}
	var out []status.Mark
	g := r.Graph
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		m := status.Mark{Object: n.Ref}
		var names []string
		switch n.Role {
		case topology.Gateway:
			names = at[id]
		case topology.Listener:
			names = listPoliciesAbove(g, at, id)
		case topology.Route:
			m.Controller = controller
			if gatewayapi.IsHTTPRoute(n.Ref.GroupKind()) { // the operator does not look at others
				names = listPoliciesAbove(g, at, id)
			}
		}
		if len(names) > 0 {
			m.Condition = status.Condition{Type: "kuadrant.io/" + k.GroupKind.Kind + "Affected", Status: "True",
				Reason:  "Accepted",
				Message: fmt.Sprintf("Object affected by %s [%s]", k.GroupKind.Kind, strings.Join(names, " "))}
			out = append(out, m)
		}
	}
	return out
}

// listPoliciesAbove lists the policies at a node and over it, those of the Gateways first, each
// once.
func listPoliciesAbove(g *topology.Graph, at map[topology.NodeID][]string, id topology.NodeID) []string {
	levels := [][]string{at[id]}
	for parents := g.Parents(topology.Traffic, id); len(parents) > 0; {
		var names []string
		var next []topology.NodeID
		for _, p := range parents {
			if g.Node(p).Role == topology.ListenerSet {
				continue // the operator does not look at listener sets
			}
			names = append(names, at[p]...)
			next = append(next, g.Parents(topology.Traffic, p)...)
		}
		levels = append(levels, names)
		slices.Sort(next)
		parents = slices.Compact(next)
	}
	var out []string
	for _, names := range slices.Backward(levels) {
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
