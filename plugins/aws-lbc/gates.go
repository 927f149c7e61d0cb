package awslbc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"aws-lbc.Login": buildLoginGate, "aws-lbc.Refusal": buildRefusalGate,
		"aws-lbc.Sources": buildSourceGate, "aws-lbc.Mutual": buildMutualTLSGate,
		"aws-lbc.Unaccepted": buildUnacceptedGates,
		"aws-lbc.Absent":     buildAbsentGates}
}

// buildLoginGate is the gate of an action that authenticates by sessions.
func buildLoginGate(in protect.Input, g protect.Gate) []protect.Gate {
	at := append(append([]string{}, in.Path...), "onUnauthenticatedRequest")
	g.Reads = []string{"cookie"}
	switch in.Text(at...) {
	case "allow":
		g.AddReason(gate.MissingAllowed, g.Field+".onUnauthenticatedRequest")
	case "deny":
		g.Answers = []string{"401"}
	default:
		g.Answers = []string{"302"}
	}
	return []protect.Gate{g}
}

// buildRefusalGate is the gate of a rule that is answered by the load balancer.
func buildRefusalGate(_ protect.Input, g protect.Gate) []protect.Gate {
	g.AddReason(gate.DeniesAll, g.Field)
	g.Refuses = protect.AlwaysRefuses
	return []protect.Gate{g}
}

// buildSourceGate is the gate of the addresses that a rule takes requests from. It may be for some
// of the matches of the rule alone.
func buildSourceGate(in protect.Input, g protect.Gate) []protect.Gate {
	if protect.CoversAll(in.Value(append(append([]string{}, in.Path...), "values")...)) {
		g.AddReason(gate.AnyAddress, g.Field)
	}
	if len(in.List("conditions", in.Path[1], "ruleIndexes")) > 0 {
		g.AddReason(gate.Condition, "conditions.ruleIndexes")
	}
	return []protect.Gate{g}
}

// buildMutualTLSGate is the gate of the listener with the protocol and port of an entry.
func buildMutualTLSGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Listener() == topology.None {
		return nil
	}
	facts := in.Resolution().Graph.Listener(in.Listener())
	protocols := readProtocols(facts.Protocol + ":" + strconv.Itoa(int(facts.Port)) + ":" + facts.TLSMode)
	entry := in.Text("listenerConfigurations", in.Path[1], "protocolPort")
	if _, port, _ := strings.Cut(entry, ":"); protocols[port] == "" || protocols.findMismatch(entry) != "" {
		return nil
	}
	switch in.Text("listenerConfigurations", in.Path[1], "mutualAuthentication", "mode") {
	case "verify":
	case "passthrough":
		g.AddReason(gate.NotVerified, g.Field+".mode")
		g.Refuses = protect.NeverRefuses
	default:
		return nil
	}
	return []protect.Gate{g}
}

// buildUnacceptedGates are those of a rule whose configuration the controller does not accept: it
// is answered without its backends. A Secret that is only not in the input may exist, and then the
// configuration is in force.
func buildUnacceptedGates(in protect.Input, _ protect.Gate) []protect.Gate {
	if in.RouteRule() == topology.None {
		return nil
	}
	n := in.Resolution().Node(in.RouteRule())
	if n.Object == nil {
		return nil
	}
	var names []string
	for _, f := range n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters").Items {
		if ref := f.Field("extensionRef"); ref.Text("group") == group &&
			ref.Text("kind") == listenerRuleConfiguration.Kind {
			names = append(names, ref.Text("name"))
		}
	}
	if len(names) == 0 {
		return nil
	}
	why := fmt.Sprintf("%s names %d ListenerRuleConfigurations", n.Ref, len(names))
	if len(names) == 1 {
		o := in.Snapshot().Get(model.Ref{Group: group, Kind: listenerRuleConfiguration.Kind,
			Namespace: n.Ref.Namespace, Name: names[0]})
		if o == nil {
			return nil
		}
		if why = explainUnaccepted(in.Resolution().Graph, o); why == "" {
			return nil
		}
		if !in.Snapshot().HasAll(model.GroupKind{Kind: "Secret"}, o.Ref.Namespace) {
			return in.GatesOf(o, gateFunctions())
		}
	}
	own := n.Ref.WithoutSection()
	return []protect.Gate{{Property: gate.Authorization, Object: own, Field: "filters.ExtensionRef",
		Answers: []string{"503"}, Missing: []string{"503"}, Refuses: protect.AlwaysRefuses,
		Reasons: []protect.Reason{{Code: gate.DeniesAll, Object: &own, Field: "filters.ExtensionRef",
			Message: why + ": the rule is answered without its backends"}}}}
}

// buildAbsentGates are those of a configuration that a Gateway or its class names and that is not
// in the input, which need not have it.
func buildAbsentGates(in protect.Input, _ protect.Gate) []protect.Gate {
	if in.Gateway() == topology.None {
		return nil
	}
	g := in.Resolution().Graph
	var out []protect.Gate
	for _, id := range append([]topology.NodeID{in.Gateway()}, g.Parents(topology.Traffic, in.Gateway())...) {
		n := g.Node(id)
		if n.Object == nil || g.ImplementationName(id) != "" && !isOwnController(g.ImplementationName(id)) {
			continue
		}
		field, ref := "infrastructure.parametersRef", model.Ref{Group: group, Kind: loadBalancerConfiguration.Kind,
			Namespace: n.Ref.Namespace}
		to := n.Object.Body.At("spec", "infrastructure", "parametersRef")
		if n.Role == topology.GatewayClass {
			field, to = "parametersRef", n.Object.Body.At("spec", "parametersRef")
			ref.Namespace = to.Text("namespace")
		}
		ref.Name = to.Text("name")
		if to.Text("group") != group || to.Text("kind") != ref.Kind || in.Snapshot().Get(ref) != nil ||
			in.Snapshot().HasAll(loadBalancerConfiguration, ref.Namespace) {
			continue
		}
		for _, property := range []gate.Property{gate.ClientCertificate, gate.WAF, gate.IPList} {
			one := protect.Gate{Property: property, Object: n.Ref.WithoutSection(), Field: field}
			one.AddReason(gate.MissingObject, field)
			one.Reasons[0].Message += ": LoadBalancerConfiguration " + ref.FullName()
			out = append(out, one)
		}
	}
	return out
}
