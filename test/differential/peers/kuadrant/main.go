// Command kuadrant answers inputs with the merging code of Kuadrant's operator over topologies of policy-machinery: the effective
// AuthPolicy and RateLimitPolicy of every path from a Gateway to a route rule. It reads an input a line and writes an answer a line; both are described in the folder above, in input.go and program/process.go.
package main

import (
	"encoding/json"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	kuadrantv1 "github.com/kuadrant/kuadrant-operator/api/v1"
	"github.com/kuadrant/policy-machinery/machinery"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func main() { serve.Answers(answer) }

// answer answers one input.
func answer(line []byte) (map[string]string, error) {
	var in struct{ Objects []json.RawMessage }
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	topology, err := build(in.Objects)
	if err != nil {
		return nil, err
	}
	facts := map[string]string{}
	targetables := topology.Targetables()
	for _, class := range targetables.Items(isA[*machinery.GatewayClass]) {
		for _, rule := range targetables.Items(isA[*machinery.HTTPRouteRule]) {
			for _, path := range targetables.Paths(class, rule) {
				effective[*kuadrantv1.AuthPolicy](facts, "AuthPolicy", path, func(p *kuadrantv1.AuthPolicy) any { return p.Spec.Proper() })
				effective[*kuadrantv1.RateLimitPolicy](facts, "RateLimitPolicy", path, func(p *kuadrantv1.RateLimitPolicy) any { return p.Spec.Proper() })
			}
		}
	}
	return facts, nil
}

// build builds the topology as the operator does.
func build(objects []json.RawMessage) (*machinery.Topology, error) {
	var classes []*gwapiv1.GatewayClass
	var gateways []*gwapiv1.Gateway
	var routes []*gwapiv1.HTTPRoute
	var policies []machinery.Policy
	for _, text := range objects {
		var head struct{ Kind string }
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, err
		}
		var err error
		switch head.Kind {
		case "GatewayClass":
			classes, err = appended(classes, text)
		case "Gateway":
			gateways, err = appended(gateways, text)
		case "HTTPRoute":
			routes, err = appended(routes, text)
		case "AuthPolicy":
			p := &kuadrantv1.AuthPolicy{}
			err = json.Unmarshal(text, p)
			policies = append(policies, p)
		case "RateLimitPolicy":
			p := &kuadrantv1.RateLimitPolicy{}
			err = json.Unmarshal(text, p)
			policies = append(policies, p)
		default:
			err = fmt.Errorf("%s is not part of the comparison", head.Kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return machinery.NewGatewayAPITopology(machinery.WithGatewayClasses(classes...), machinery.WithGateways(gateways...), machinery.WithHTTPRoutes(routes...),
		machinery.ExpandGatewayListeners(), machinery.ExpandHTTPRouteRules(), machinery.WithGatewayAPITopologyPolicies(policies...))
}

func appended[T any](list []*T, text []byte) ([]*T, error) {
	o := new(T)
	return append(list, o), json.Unmarshal(text, o)
}

func isA[T machinery.Object](o machinery.Object) bool {
	_, ok := o.(T)
	return ok
}

// effective notes the effective policy of a kind on a path.
func effective[T kuadrantv1.MergeablePolicy](facts map[string]string, kind string, path []machinery.Targetable, proper func(T) any) {
	p := kuadrantv1.EffectivePolicyForPath[T](path, func(p machinery.Policy) bool {
		_, ok := p.(T)
		return ok
	})
	if p == nil {
		return
	}
	where := kind + " " + via(path)
	text, err := json.Marshal(proper(*p))
	if err != nil {
		panic(err)
	}
	facts["spec."+where] = string(text)
}

// via names the gateway, the listener, the route and the rule of a path.
func via(path []machinery.Targetable) string {
	var gateway, listener, route, rule string
	for _, step := range path {
		switch n := step.(type) {
		case *machinery.Gateway:
			gateway = n.Namespace + "/" + n.Name
		case *machinery.Listener:
			listener = string(n.Listener.Name)
		case *machinery.HTTPRoute:
			route = n.Namespace + "/" + n.Name
		case *machinery.HTTPRouteRule:
			rule = string(n.Name)
		}
	}
	return fmt.Sprintf("%s %s %s %s", gateway, listener, route, rule)
}
