package awslbc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// explainUnreconciled says why the controller leaves a Gateway, or all of a class, alone: what it
// names as configuration cannot be used.
func explainUnreconciled(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	if n.Object == nil {
		return nil
	}
	var at []string
	ref := model.Ref{Group: group, Kind: loadBalancerConfiguration.Kind}
	switch n.Role {
	case topology.GatewayClass:
		at = []string{"spec", "parametersRef"}
	case topology.Gateway:
		at, ref.Namespace = []string{"spec", "infrastructure", "parametersRef"}, n.Ref.Namespace
	default:
		return nil
	}
	to := n.Object.Body.At(at...)
	if to.Text("group") != group || to.Text("kind") != ref.Kind || g.ImplementationName(id) != "" &&
		!isOwnController(g.ImplementationName(id)) {
		return nil
	}
	ref.Name = to.Text("name")
	if n.Role == topology.GatewayClass {
		ref.Namespace = to.Text("namespace")
	}
	why := explainUnusable(g, ref)
	if why == "" {
		return nil
	}
	p := model.Problem{Severity: model.Warning, Code: model.NotReached,
		Message: fmt.Sprintf("%s: the controller does not reconcile %s", why, formatGateways(n))}.At(n.Object, at...)
	return &p
}

// isOwnController reports whether Gateways are this controller's, by what the graph says whose they
// are.
func isOwnController(whose string) bool { return whose == name || strings.HasPrefix(whose, group+"/") }

func formatGateways(n *topology.Node) string {
	if n.Role == topology.GatewayClass {
		return "the Gateways of " + n.Ref.String()
	}
	return n.Ref.String()
}

// explainUnusable says what is wrong with a LoadBalancerConfiguration that something names; "" if
// nothing is, or if that is not known.
func explainUnusable(g *topology.Graph, ref model.Ref) string {
	if ref.Namespace == "" {
		return "the parametersRef names no namespace"
	}
	o := g.Object(ref)
	if o == nil {
		if isKnownMissing(g, ref) {
			return ref.String() + " does not exist"
		}
		return ""
	}
	name := o.Text("spec", "defaultTargetGroupConfiguration", "name")
	if name == "" {
		return ""
	}
	tgc := model.Ref{Group: group, Kind: targetGroupConfiguration.Kind, Namespace: o.Ref.Namespace, Name: name}
	switch d := g.Object(tgc); {
	case d == nil && isKnownMissing(g, tgc):
		return tgc.String() + ", the default of " + ref.String() + ", does not exist"
	case d != nil && !d.Body.At("spec", "targetReference").IsNull():
		return tgc.String() + ", the default of " + ref.String() + ", has a targetReference"
	}
	return ""
}

// isKnownMissing reports whether an object that is not in the input does not exist: it, or what may
// make it, may not have been read.
func isKnownMissing(g *topology.Graph, ref model.Ref) bool { return g.FindExistence(ref).IsAbsent() }

// explainUnanswered says why a rule is answered without its backends: what its filters name cannot
// be used.
func explainUnanswered(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	if n.Role != topology.Rule || n.Object == nil {
		return nil
	}
	at := []string{"spec", "rules", strconv.Itoa(n.Index), "filters"}
	var names []string
	for _, f := range n.Object.Body.At(at...).Items {
		ref := f.Field("extensionRef")
		if f.Text("type") == "ExtensionRef" && ref.Text("group") == group &&
			ref.Text("kind") == listenerRuleConfiguration.Kind {
			names = append(names, ref.Text("name"))
		}
	}
	if len(names) == 0 {
		return nil
	}
	ref := model.Ref{Group: group, Kind: listenerRuleConfiguration.Kind, Namespace: n.Ref.Namespace, Name: names[0]}
	why := ""
	switch o := g.Object(ref); {
	case len(names) > 1:
		why = fmt.Sprintf("%s has filters with %d ListenerRuleConfigurations, and one at most is allowed",
			n.Ref, len(names))
	case o == nil && isKnownMissing(g, ref):
		why = ref.String() + " does not exist"
	case o != nil:
		why = explainUnaccepted(g, o)
	}
	if why == "" {
		return nil
	}
	p := model.Problem{Severity: model.Warning, Code: model.PolicyInError,
		Message: why + ": the rule is answered without its backends"}.At(n.Object, at...)
	return &p
}

// explainUnaccepted says why a ListenerRuleConfiguration is not accepted: a Secret of it does not
// exist.
func explainUnaccepted(g *topology.Graph, o *model.Object) string {
	for _, a := range o.Body.At("spec", "actions").Items {
		name := a.At("authenticateOIDCConfig", "secret").Text("name")
		secret := model.Ref{Kind: "Secret", Namespace: o.Ref.Namespace, Name: name}
		if a.Text("type") == "authenticate-oidc" && name != "" && g.Object(secret) == nil && isKnownMissing(g, secret) {
			return fmt.Sprintf("%s is not accepted, because %s does not exist", o.Ref, secret)
		}
	}
	return ""
}

// entryUse is what the Gateways that a configuration holds for make of one of its entries.
type entryUse struct {
	policy *policy.Policy
	index  int
	known  bool // a Gateway has the port
}

// findUnusedEntries reports entries for ports at which Gateways have no listener of the protocol, of
// their own configurations and of those of their classes.
func findUnusedEntries(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	var order []*entryUse
	uses := map[string]*entryUse{}
	modes := map[*policy.Policy]bool{}
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Gateway || n.Object == nil {
			continue
		}
		all := slices.Clone(at(id))
		for _, class := range g.Parents(topology.Traffic, id) {
			all = append(all, at(class)...)
		}
		protocols := readProtocols(g.PathFact(id, "listeners"))
		for _, a := range all {
			own := a.Node == id
			if a.Policy.Object.Text("spec", "mergingMode") != "" && own && !modes[a.Policy] {
				modes[a.Policy] = true
				out = append(out, model.Problem{Severity: model.Warning, Code: model.NotReached,
					Message: fmt.Sprintf(
						"mergingMode of %s is not read: it counts in the configuration of a GatewayClass alone",
						a.Policy.Ref())}.At(a.Policy.Object, "spec", "mergingMode"))
			}
			for i, e := range a.Policy.Object.Body.At("spec", "listenerConfigurations").Items {
				key := a.Policy.Ref().String() + " " + strconv.Itoa(i)
				use := uses[key]
				if use == nil {
					use = &entryUse{policy: a.Policy, index: i}
					uses[key], order = use, append(order, use)
				}
				_, port, _ := strings.Cut(e.Text("protocolPort"), ":")
				have := protocols.findMismatch(e.Text("protocolPort"))
				use.known = use.known || protocols[port] != ""
				if have != "" {
					out = append(out, use.newProblem(fmt.Sprintf("is for another protocol than the listener of %s, "+
						"whose protocol is %s: the controller drops it there, and reports nothing", n.Ref, have)))
				}
			}
		}
	}
	for _, use := range order {
		if !use.known {
			out = append(out, use.newProblem("is for a port without a listener: it does nothing"))
		}
	}
	return out
}

// newProblem says what is wrong with the entry.
func (u *entryUse) newProblem(what string) model.Problem {
	o := u.policy.Object
	e := o.Body.At("spec", "listenerConfigurations", strconv.Itoa(u.index))
	return model.Problem{Severity: model.Warning, Code: model.NotReached, Message: fmt.Sprintf("entry %s of %s %s",
		e.Text("protocolPort"), u.policy.Ref(), what)}.At(o, "spec", "listenerConfigurations", strconv.Itoa(u.index))
}

// findDuplicates reports several TargetGroupConfigurations for one object: the controller takes the
// first of a list without an order.
func findDuplicates(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		all := at(id)
		if g.Node(id).Role != topology.Backend || len(all) < 2 {
			continue
		}
		for _, a := range all[1:] {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
				Message: fmt.Sprintf(
					"%s and %s are both for %s: the controller takes the first of a list that has no order; here it is the first by name", all[0].Policy.Ref(), a.Policy.Ref(), g.Node(id).Ref),
				Hint: "delete one of them"}.At(a.Policy.Object, "spec", "targetReference"))
		}
	}
	return out
}
