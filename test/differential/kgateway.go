package main

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// kgateway compares what kgateway's translator sets Envoy up with, route by route, and the statuses of policies.
var kgateway = peer{Peer: built("kgateway", "github.com/kgateway-dev/kgateway/v2", "test/cmd/dopolicy-peer", "translate"), generate: drawKgateway, ask: askKgateway}

var kgatewayNamespaces = []string{"infra", "app", "team"}

// drawKgateway draws one or two Gateways with listeners that share ports and have overlapping hostnames, a ListenerSet in two of five inputs,
// HTTPRoutes and GRPCRoutes, and TrafficPolicies at every level. A third of the rules of HTTPRoutes hands over to other HTTPRoutes,
// one in ten redirects, a third has no name. One in five policies selects by labels, one in seven is named by filters, and one in twenty
// is in error. Two in five inputs have ListenerPolicies, of which the statuses are compared, and then TrafficPolicies of Gateways no weights, with
// which their order would not be certain; three in five have BackendConfigPolicies.
//
// Values that the API server would add are written out: the translator does not add them. No path of a rule occurs twice, so that a path and a
// host tell the rule.
func drawKgateway(s draw.Source) input {
	g := kgatewayInput{drawing: drawing{Source: s}, names: map[string][]string{}}
	g.surroundings()
	for _, name := range draw.Numbered("gw", draw.Pick(s, 1, 1, 2)) {
		g.gateway(name)
	}
	for _, name := range draw.Numbered("set", draw.Pick(s, 0, 0, 0, 1, 1)) {
		g.listenerSet(name)
	}
	for _, name := range draw.Numbered("route", s.Between(1, 3)) {
		g.rootRoute(name)
	}
	for _, name := range draw.Numbered("grpc", draw.Pick(s, 0, 0, 1, 1, 2)) {
		g.grpcRoute(name)
	}
	if s.Chance(40) {
		g.mixed = true
		for i := range s.Between(1, 4) {
			g.listenerPolicy(fmt.Sprintf("l%d", i))
		}
	}
	for i := range draw.Pick(s, 0, 0, 1, 2, 3) {
		g.backendPolicy(fmt.Sprintf("b%d", i))
	}
	for i := range s.Between(2, 8) {
		g.policy(fmt.Sprintf("p%d", i))
	}
	g.filters()
	out := input{Objects: g.objects}
	if s.Chance(20) {
		out.Settings = map[string]string{"policyMerge": g.policyMerge()}
	}
	return out
}

// kgatewayInput is an input in the making.
type kgatewayInput struct {
	drawing
	targets  []target // that policies may have
	parents  []target // that routes may have
	rules    []ruleAt
	mixed    bool                // there are policies of several kinds at Gateways
	children int                 // routes that others hand over to
	names    map[string][]string // of policies that no reference has, by namespace
}

// ruleAt is a rule of a route in a namespace.
type ruleAt struct {
	namespace string
	rule      object
}

// surroundings adds the class, namespaces with a Service each, a certificate, and the providers that policies may name.
func (g *kgatewayInput) surroundings() {
	g.add("gateway.networking.k8s.io/v1", "GatewayClass", g.Made("", "kgateway"), object{"controllerName": "kgateway.dev/kgateway"})
	for _, name := range kgatewayNamespaces {
		metadata := g.Made("", name)
		metadata["labels"] = object{"kubernetes.io/metadata.name": name}
		g.objects = append(g.objects, object{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
		g.add("v1", "Service", g.Made(name, "web"), object{"ports": []object{{"name": "http", "port": 80, "protocol": "TCP"}}})
	}
	g.objects = append(g.objects, object{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": g.Made("infra", "cert"), "data": draw.Certificate()})
	service := object{"backendRef": object{"group": "", "kind": "Service", "name": "web", "port": 80, "weight": 1}}
	for _, name := range []string{"auth-1", "auth-2"} {
		g.add("gateway.kgateway.dev/v1alpha1", "GatewayExtension", g.Made("infra", name), object{"type": "ExtAuth", "extAuth": object{
			"grpcService": service, "statusOnError": 403, "clearRouteCache": false, "failOpen": false}})
	}
	for _, name := range []string{"proc-1", "proc-2"} {
		g.add("gateway.kgateway.dev/v1alpha1", "GatewayExtension", g.Made("infra", name), object{"type": "ExtProc", "extProc": object{
			"grpcService": service, "failOpen": true, "allowProcessingModeOverride": false, "routeCacheAction": "FromResponse"}})
	}
	g.add("gateway.kgateway.dev/v1alpha1", "GatewayExtension", g.Made("infra", "limit"), object{"type": "RateLimit", "rateLimit": object{
		"grpcService": service, "domain": "all", "failOpen": false, "timeout": "100ms", "xRateLimitHeaders": "Off"}})
}

func (g *kgatewayInput) gateway(name string) {
	namespace := draw.Pick(g.Source, "infra", "infra", "app")
	t := target{"Gateway", namespace, name, ""}
	g.targets, g.parents = append(g.targets, t), append(g.parents, t)
	g.add("gateway.networking.k8s.io/v1", "Gateway", g.labelled(50, namespace, name), object{"gatewayClassName": "kgateway",
		"allowedListeners": object{"namespaces": object{"from": draw.Pick(g.Source, "All", "All", "Same", "None")}}, "listeners": g.listeners(t, "l", g.Between(1, 3))})
}

func (g *kgatewayInput) listenerSet(name string) {
	gateway := g.parents[0]
	namespace := draw.Pick(g.Source, "infra", "app")
	t := target{"ListenerSet", namespace, name, ""}
	g.targets, g.parents = append(g.targets, t), append(g.parents, t)
	g.add("gateway.networking.k8s.io/v1", "ListenerSet", g.labelled(50, namespace, name), object{
		"parentRef": object{"group": gatewayGroup, "kind": "Gateway", "namespace": gateway.namespace, "name": gateway.name},
		"listeners": g.listeners(t, "s", g.Between(1, 2))})
}

// listeners draws listeners of different hosts and ports; one in five is one with TLS in the namespace of the certificate.
func (g *kgatewayInput) listeners(owner target, stem string, n int) []object {
	var out []object
	for _, name := range draw.Numbered(stem, n) {
		listener := object{"name": name, "port": draw.Pick(g.Source, 80, 80, 80, 8080), "protocol": "HTTP"}
		if g.Chance(20) && owner.namespace == "infra" {
			listener["port"], listener["protocol"] = 443, "HTTPS"
			listener["tls"] = object{"mode": "Terminate", "certificateRefs": []object{{"group": "", "kind": "Secret", "name": "cert"}}}
		}
		if host := draw.Pick(g.Source, "", "", "*.example.com", "*.shop.example.com", "a.example.com", "a.shop.example.com"); host != "" {
			listener["hostname"] = host
		}
		if slices.ContainsFunc(out, func(o object) bool { return o["port"] == listener["port"] && o["hostname"] == listener["hostname"] }) {
			continue
		}
		listener["allowedRoutes"] = object{"namespaces": object{"from": draw.Pick(g.Source, "All", "All", "All", "All", "All", "Same")}}
		out = append(out, listener)
		owner.section = name
		g.targets, g.parents = append(g.targets, owner), append(g.parents, owner)
	}
	return out
}

// withSection adds the name of a section, if there is one.
func withSection(o object, section string) object {
	if section != "" {
		o["sectionName"] = section
	}
	return o
}
