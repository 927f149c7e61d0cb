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
	return out
}

// value is a field of the configuration: the Gateway's, else that of its class.
func (c *proxyConfig) value(path ...string) any {
	for _, o := range c.found {
		if at := o.Body.At(append([]string{"spec"}, path...)...); !at.IsNull() {
			return at.Value()
		}
	}
	return nil
}

// has reports whether a field of the configuration is set.
func (c *proxyConfig) has(path ...string) bool { return c.value(path...) != nil }

func (c *proxyConfig) addProxy(in *model.Snapshot, ref model.Body, namespace string) {
	if ref.Text("group") != group || ref.Text("kind") != "NginxProxy" {
		return
	}
	to := model.Ref{Group: group, Kind: "NginxProxy", Namespace: cmp.Or(ref.Text("namespace"), namespace),
		Name: ref.Text("name")}
	switch o := in.Get(to); {
	case o != nil:
		c.found = append(c.found, o)
	case in.FindExistence(to).Presence != model.Missing:
		c.uncertain = to.String() + " is not in the input"
	}
}

// proxyNeed is what policies of a kind take in the configuration of a Gateway.
type proxyNeed struct {
	what string
	has  func(c *proxyConfig) bool
}

// proxyNeeds are the kinds that take something (internal/controller/state/graph/nginxproxy.go:184-212 @
// e55bfe339).
var proxyNeeds = map[string]*proxyNeed{
	"ObservabilityPolicy": {"telemetry", func(c *proxyConfig) bool {
		off, _ := c.value("telemetry", "disabledFeatures").([]any)
		return c.has("telemetry", "exporter", "endpoint") && !slices.Contains(off, any("DisableTracing"))
	}},
	"WAFPolicy": {"the WAF", func(c *proxyConfig) bool { return c.value("waf", "enable") == true }},
}

func needOf(p *policy.Policy) *proxyNeed { return proxyNeeds[p.Kind.GroupKind.Kind] }

// checkProxy finds policies whose Gateways have nothing configured that they need. A route counts as
// served as long as nothing at all is configured for its Gateway.
func checkProxy(k *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	need := proxyNeeds[k.GroupKind.Kind]
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
			case need.has(&c):
			case c.uncertain != "":
				open = append(open, c.uncertain)
			case len(c.found) > 0 || slices.Contains(at, gateway):
				p.Fail(ref, fmt.Sprintf("%s is not configured in a NginxProxy of %s", need.what, ref))
				without = append(without, ref.String())
			}
		}
		return "", configProblems(p, need.what, open, without)
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
