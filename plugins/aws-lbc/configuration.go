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

// findUnusedEntries reports entries for ports at which a Gateway has no listener of the protocol.
func findUnusedEntries(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	seen := map[string]bool{}
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Gateway || n.Object == nil {
			continue
		}
		var all []policy.Attached
		all = append(all, at(id)...)
		for _, class := range g.Parents(topology.Traffic, id) {
			all = append(all, at(class)...)
		}
		for _, a := range all {
			if mode := a.Policy.Object.Text("spec", "mergingMode"); mode != "" && a.Node == id {
				key := "mode " + a.Policy.Ref().String()
				if !seen[key] {
					out = append(out, model.Problem{Severity: model.Warning, Code: model.NotReached,
						Message: fmt.Sprintf(
							"mergingMode of %s is not read: it counts in the configuration of a GatewayClass alone",
							a.Policy.Ref())}.At(a.Policy.Object, "spec", "mergingMode"))
				}
				seen[key] = true
			}
			if a.Node == id {
				out = append(out, findEntriesWithoutListener(n, a.Policy)...)
			}
		}
	}
	return out
}

// findEntriesWithoutListener reports the entries of a Gateway's own configuration that are for none
// of its listeners.
func findEntriesWithoutListener(n *topology.Node, p *policy.Policy) []model.Problem {
	ports := map[string][]string{}
	for _, l := range n.Object.Body.At("spec", "listeners").Items {
		port := fmt.Sprint(l.Get("port"))
		ports[port] = append(ports[port], l.Text("protocol"))
	}
	var out []model.Problem
	for i, e := range p.Object.Body.At("spec", "listenerConfigurations").Items {
		protocol, port, _ := strings.Cut(e.Text("protocolPort"), ":")
		have, known := ports[port]
		what := ""
		switch {
		case !known:
			what = "is for no listener of " + n.Ref.String() + ": it does nothing"
		case !slices.Contains(have, protocol) && !(protocol == "TCP_UDP" && len(have) > 1):
			what = fmt.Sprintf("is for another protocol than the listener of %s (%s): that is an error of the Gateway",
				n.Ref, strings.Join(have, ", "))
		default:
			continue
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: fmt.Sprintf("entry %s of %s %s", e.Text("protocolPort"), p.Ref(),
				what)}.At(p.Object, "spec", "listenerConfigurations", strconv.Itoa(i)))
	}
	return out
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
