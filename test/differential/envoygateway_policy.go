package main

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// policy draws a policy of a kind that its target may have, three in ten times for what is high up or another policy may have already.
func (g *envoyInput) policy(name string) {
	t := draw.Pick(g.Source, g.targets...)
	if g.Chance(30) {
		t = g.targets[g.IntN(min(4, len(g.targets)))]
	}
	onRoute := t.kind != "Gateway" && t.kind != "ListenerSet"
	kinds := []string{"BackendTrafficPolicy", "BackendTrafficPolicy", "SecurityPolicy", "EnvoyExtensionPolicy"}
	switch {
	case t.kind == "UDPRoute" || t.kind == "TLSRoute":
		kinds = []string{"BackendTrafficPolicy", "EnvoyExtensionPolicy"}
	case !onRoute && g.Chance(30):
		kinds = []string{"ClientTrafficPolicy"}
	}
	kind := draw.Pick(g.Source, kinds...)
	spec := g.policySettings(kind)
	namespace := t.namespace
	if g.Chance(16) {
		selector := object{"kind": t.kind, "matchLabels": object{"tier": draw.Pick(g.Source, "a", "b")}}
		if g.Chance(50) {
			namespace = draw.Pick(g.Source, "infra", "app", "other")
			selector["namespaces"] = g.from()
		}
		spec["targetSelectors"] = []object{selector}
	} else {
		spec["targetRefs"] = g.targetRefs(t)
	}
	if onRoute && kind != "ClientTrafficPolicy" && g.Chance(50) {
		spec["mergeType"] = draw.Pick(g.Source, "StrategicMerge", "JSONMerge")
	}
	g.add(envoyGroup+"/v1alpha1", kind, g.Made(namespace, name), spec)
}

// targetRefs names a target, and one time in six another of the same kind. Three in a hundred name what is not there.
func (g *envoyInput) targetRefs(t target) []object {
	refs := []object{envoyTarget(t)}
	if g.Chance(16) {
		for _, other := range g.targets {
			if other != t && other.kind == t.kind && other.namespace == t.namespace {
				refs = append(refs, envoyTarget(other))
				break
			}
		}
	}
	if g.Chance(3) {
		refs[0][draw.Pick(g.Source, "name", "sectionName")] = "missing"
	}
	return refs
}

func envoyTarget(t target) object {
	ref := object{"group": gatewayGroup, "kind": t.kind, "name": t.name}
	if t.section != "" {
		ref["sectionName"] = t.section
	}
	return ref
}

// backendTLS draws a BackendTLSPolicy for one or two targets, half of them for a port. One in four has certificates of its own, half of these none
// that the controller finds; that Service is not one that policies ask.
func (g *envoyInput) backendTLS(name string) {
	var refs []object
	for _, service := range draw.Some(g.Source, 40, "web", "api") {
		ref := object{"group": "", "kind": "Service", "name": service}
		if g.Chance(50) {
			ref["sectionName"] = draw.Pick(g.Source, "http", "http", "dns")
		}
		refs = append(refs, ref)
	}
	namespace := draw.Pick(g.Source, "app", "app", "infra", "other")
	validation := object{"hostname": fmt.Sprintf("b%d.example.com", g.value())}
	if certificates := draw.Pick(g.Source, "ca", "only", "none", "none"); g.Chance(25) && (namespace != "other" || certificates != "none") {
		validation["caCertificateRefs"] = []object{{"group": "", "kind": "ConfigMap", "name": certificates}}
	} else {
		validation["wellKnownCACertificates"] = "System"
	}
	g.add(gatewayGroup+"/v1", "BackendTLSPolicy", g.Made(namespace, name), object{"targetRefs": refs, "validation": validation})
}

// grants lets policies of every namespace use the Service that they ask, and half of the time other things what is in another namespace.
func (g *envoyInput) grants() {
	from := func(group string, kinds ...string) []object {
		var out []object
		for _, kind := range kinds {
			for _, namespace := range []string{"infra", "app", "other"} {
				out = append(out, object{"group": group, "kind": kind, "namespace": namespace})
			}
		}
		return out
	}
	to := func(group string, kinds ...string) []object {
		var out []object
		for _, kind := range kinds {
			out = append(out, object{"group": group, "kind": kind})
		}
		return out
	}
	grant := func(namespace, name string, from, to []object) {
		g.add(gatewayGroup+"/v1beta1", "ReferenceGrant", g.Made(namespace, name), object{"from": from, "to": to})
	}
	grant("other", "asked", from(envoyGroup, "SecurityPolicy", "EnvoyExtensionPolicy"), to("", "Service"))
	for _, namespace := range []string{"infra", "app"} {
		if g.Chance(50) {
			grant(namespace, "targets", from(envoyGroup, draw.Some(g.Source, 60, "BackendTrafficPolicy", "SecurityPolicy", "EnvoyExtensionPolicy", "ClientTrafficPolicy")...),
				to(gatewayGroup, draw.Some(g.Source, 60, "HTTPRoute", "Gateway", "GRPCRoute", "ListenerSet")...))
		}
		if g.Chance(50) {
			grant(namespace, "backends", from(gatewayGroup, draw.Some(g.Source, 60, "HTTPRoute", "GRPCRoute", "TCPRoute", "Gateway", "ListenerSet")...), to("", draw.Some(g.Source, 70, "Service", "Secret")...))
		}
	}
}
