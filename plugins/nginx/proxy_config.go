package nginx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// proxyConfig is the configuration of a Gateway's data plane: NginxProxies that its class and the
// Gateway itself refer to.
type proxyConfig struct {
	found     []*model.Object
	uncertain string // why there may be more than is known; "": there is not
}

// findProxyConfig finds the configuration of a Gateway.
func findProxyConfig(g *topology.Graph, in *model.Snapshot, gateway topology.NodeID) proxyConfig {
	var out proxyConfig
	n := g.Node(gateway)
	if n.Object == nil {
		return proxyConfig{uncertain: n.Ref.String() + " is forbidden"}
	}
	out.addProxy(in, n.Object.Body.At("spec", "infrastructure", "parametersRef"), n.Ref.Namespace)
	for _, class := range g.Parents(topology.Traffic, gateway) {
		o := g.Node(class).Object
		if o == nil {
			out.uncertain = cmp.Or(out.uncertain, g.Node(class).Ref.String()+" is not in the input")
			continue
		}
		out.addProxy(in, o.Body.At("spec", "parametersRef"), "")
	}
	if len(out.found) == 0 {
		out.uncertain = cmp.Or(out.uncertain, "neither "+n.Ref.String()+" nor its class refers to a NginxProxy")
	}
	return out
}

func (c *proxyConfig) addProxy(in *model.Snapshot, ref model.Body, namespace string) {
	if ref.Text("group") != group || ref.Text("kind") != "NginxProxy" {
		return
	}
	to := model.Ref{Group: group, Kind: "NginxProxy", Namespace: cmp.Or(ref.Text("namespace"), namespace),
		Name: ref.Text("name")}
	if o := in.Get(to); o != nil {
		c.found = append(c.found, o)
	} else {
		c.uncertain = to.String() + " is not in the input"
	}
}

// newConfigCheck finds policies whose Gateways have nothing configured that they need: has tells
// whether a NginxProxy has what they need.
func newConfigCheck(what string, has func(spec model.Body) bool) policy.CheckMaker {
	return func(k *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
		known := map[topology.NodeID]proxyConfig{}
		return func(p *policy.Policy, at []topology.NodeID) (string, []model.Problem) {
			var open, without []string
			for _, gateway := range findGatewaysAbove(g, at, k.Controllers) {
				c, ok := known[gateway]
				if !ok {
					c = findProxyConfig(g, in, gateway)
					known[gateway] = c
				}
				ref := g.Node(gateway).Ref
				switch {
				case slices.ContainsFunc(c.found, func(o *model.Object) bool { return has(o.Body.Field("spec")) }):
				case c.uncertain != "":
					open = append(open, c.uncertain)
				default:
					p.Fail(ref, fmt.Sprintf("%s is not configured in a NginxProxy of %s", what, ref))
					without = append(without, ref.String())
				}
			}
			return "", configProblems(p, what, open, without)
		}
	}
}

// configProblems tells what is missing, and what is not known to be there.
func configProblems(p *policy.Policy, what string, open, without []string) []model.Problem {
	var out []model.Problem
	if len(without) > 0 {
		slices.Sort(without)
		out = append(out, model.Problem{Severity: model.Warning, Code: model.PolicyInError, Message: fmt.Sprintf(
			"the policy is in error on the ways through %s: no NginxProxy configures %s there", limitTexts(
				slices.Compact(without)), what)}.At(p.Object))
	}
	if len(open) > 0 {
		slices.Sort(open)
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
			"cannot tell whether %s is configured, which the policy needs,: %s; it is taken to be", what, limitTexts(
				slices.Compact(open))),
			Hint: "add the NginxProxy, and the GatewayClass that refers to it"}.At(p.Object))
	}
	return out
}

// findGatewaysAbove lists the controller's Gateways at or above nodes.
func findGatewaysAbove(g *topology.Graph, at []topology.NodeID, controllers []string) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range at {
		above := []topology.NodeID{id}
		switch n := g.Node(id); {
		case n.Role == topology.Route:
			above, _ = findGateways(g, id, controllers)
		case n.Role != topology.Gateway || !isManaged(g, id, controllers):
			continue
		}
		for _, gateway := range above {
			if !slices.Contains(out, gateway) {
				out = append(out, gateway)
			}
		}
	}
	return out
}

// checkTelemetry finds ObservabilityPolicies where the NginxProxy exports no traces.
var checkTelemetry = newConfigCheck("telemetry",
	func(spec model.Body) bool { return !spec.Field("telemetry").IsNull() })

// checkFirewall finds WAFPolicies where the NginxProxy does not turn the firewall on.
var checkFirewall = newConfigCheck("the WAF", func(spec model.Body) bool {
	waf := spec.Field("waf")
	if waf.IsObject() {
		for _, key := range []string{"enable", "enabled"} {
			if waf.Has(key) {
				return waf.Get(key) == true
			}
		}
		return true
	}
	return waf.Value() == true
})
