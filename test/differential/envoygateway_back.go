package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writtenBack is an input without the policies that were drawn, with the effective policies in their place. A route stands there once for every
// listener that it names, because what is in force at it may be another at each; each rule has one policy of each kind.
type writtenBack struct {
	objects []object
	routes  []copied
	names   *strings.Replacer
	rules   map[string]string // what the controller calls the rule of a route, by the route and what the rule is addressed by
	same    map[string]int    // where a policy is written, by all that it says
}

// copied is a copy of a route for one listener.
type copied struct {
	kind, namespace, name string // of the route
	at                    listenerPath
	as                    string
}

var drawnPolicies = []string{"BackendTrafficPolicy", "SecurityPolicy", "EnvoyExtensionPolicy", "ClientTrafficPolicy", "BackendTLSPolicy"}

// newWrittenBack writes policies back. The listeners that are lost are in no other's way. Policies that are broken stay: what comes of them is no
// effective policy.
func newWrittenBack(in *input, items []predicted, lost, broken map[string]bool) *writtenBack {
	w := &writtenBack{rules: map[string]string{}, same: map[string]int{}}
	in, _ = in.clone()
	var listeners []listenerPath
	ports := map[listenerPath]string{}
	merged := in.mergesGateways()
	for _, o := range in.Objects {
		at, found := listenersOf(o)
		listeners = append(listeners, at...)
		for path, port := range found {
			if merged {
				_, port, _ = strings.Cut(port, " ")
			}
			if !lost[path.object()] {
				ports[path] = port
			}
		}
	}
	for _, o := range in.Objects {
		kind, _ := o["kind"].(string)
		namespace, name := metadataOf(o)
		switch {
		case broken[kind+" "+namespace+"/"+name]:
			w.objects = append(w.objects, o)
		case slices.Contains(drawnPolicies, kind):
		case strings.HasSuffix(kind, "Route"):
			w.copyRoute(o, listeners)
		default:
			w.objects = append(w.objects, o)
		}
	}
	var names []string
	for _, c := range slices.Backward(w.routes) {
		names = append(names, "/"+c.namespace+"/"+c.as, "/"+c.namespace+"/"+c.name)
	}
	w.names = strings.NewReplacer(names...)
	for _, item := range items {
		if item.Target.Kind == "Service" && item.Target.Section != "" { // a port
			w.policy("BackendTLSPolicy", item.Target.Namespace, object{"group": "", "kind": "Service", "name": item.Target.Name, "sectionName": item.Target.Section}, item.Spec)
		}
		w.onRoutes(item)
	}
	w.onListeners(items, listeners, ports)
	return w
}

// mergesGateways reports whether one proxy serves all Gateways.
func (in *input) mergesGateways() bool {
	return slices.ContainsFunc(in.Objects, func(o object) bool {
		spec, _ := o["spec"].(object)
		return o["kind"] == "EnvoyProxy" && spec["mergeGateways"] == true
	})
}

// renamed has the names of routes for those of their copies.
func (w *writtenBack) renamed(text string) string { return w.names.Replace(text) }

// rule is what the controller calls the rule that a policy is in force at; "" if it is in force at something else.
func (w *writtenBack) rule(item predicted) string {
	t := item.Target
	return w.rules[fmt.Sprintf("%s %s/%s %s", t.Kind, t.Namespace, t.Name, t.Section)]
}

// metadataOf gives the namespace and the name of an object.
func metadataOf(o object) (namespace, name string) {
	metadata, _ := o["metadata"].(object)
	namespace, _ = metadata["namespace"].(string)
	name, _ = metadata["name"].(string)
	return namespace, name
}

// entries are the objects of a list.
func entries(v any) []object {
	list, _ := v.([]any)
	var out []object
	for _, e := range list {
		if o, ok := e.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

func text(o object, key, otherwise string) string {
	if s, ok := o[key].(string); ok {
		return s
	}
	return otherwise
}

// listenersOf are the listeners of a Gateway or a ListenerSet, and of those for HTTP the ports.
func listenersOf(o object) ([]listenerPath, map[listenerPath]string) {
	namespace, name := metadataOf(o)
	path := listenerPath{Gateway: namespace + "/" + name}
	spec, _ := o["spec"].(object)
	switch o["kind"] {
	case "Gateway":
	case "ListenerSet":
		parent, _ := spec["parentRef"].(object)
		path = listenerPath{Gateway: text(parent, "namespace", namespace) + "/" + text(parent, "name", ""), ListenerSet: namespace + "/" + name}
	default:
		return nil, nil
	}
	var out []listenerPath
	ports := map[listenerPath]string{}
	for _, l := range entries(spec["listeners"]) {
		path.Listener = text(l, "name", "")
		out = append(out, path)
		if l["protocol"] == "HTTP" {
			ports[path] = fmt.Sprint(path.Gateway, " ", l["port"])
		}
	}
	return out, ports
}

// copyRoute writes a copy for every listener that a parent of the route names.
func (w *writtenBack) copyRoute(o object, listeners []listenerPath) {
	namespace, name := metadataOf(o)
	spec, _ := o["spec"].(object)
	for i, rule := range entries(spec["rules"]) {
		if rule["name"] == nil {
			rule["name"] = fmt.Sprintf("rule-%d", i+1)
		}
		kind := text(o, "kind", "")
		called := fmt.Sprintf("%s/%s/%s", strings.ToLower(kind), namespace, name)
		if kind == "HTTPRoute" || kind == "GRPCRoute" {
			called += fmt.Sprintf("/rule/%d", i)
		}
		w.rules[fmt.Sprintf("%s %s/%s %s", kind, namespace, name, rule["name"])] = called
	}
	for _, parent := range entries(spec["parentRefs"]) {
		of := text(parent, "namespace", namespace) + "/" + text(parent, "name", "")
		for _, l := range listeners {
			if text(parent, "kind", "Gateway")+" "+of != l.owner() || text(parent, "sectionName", l.Listener) != l.Listener {
				continue
			}
			c := copied{text(o, "kind", ""), namespace, name, l, fmt.Sprintf("%s--%d", name, len(w.routes)+1)}
			w.routes = append(w.routes, c)
			twin, _ := (&input{Objects: []object{o}}).clone()
			route := twin.Objects[0]
			route["metadata"].(object)["name"] = c.as
			route["spec"].(object)["parentRefs"] = []object{withSection(maps.Clone(parent), l.Listener)}
			w.objects = append(w.objects, route)
		}
	}
}

// onRoutes has an effective policy of a route rule hold at the copies of its route.
func (w *writtenBack) onRoutes(item predicted) {
	kind, _, _ := strings.Cut(item.PolicyKind, ".")
	for _, c := range w.routes {
		if c.kind == item.Target.Kind && c.namespace == item.Target.Namespace && c.name == item.Target.Name && slices.Contains(item.Paths, c.at) {
			ref := object{"group": gatewayGroup, "kind": c.kind, "name": c.as, "sectionName": item.Target.Section}
			namespace := c.namespace
			switch {
			case c.kind == "TLSRoute" && kind == "SecurityPolicy": // it cannot be targeted: only what is above it holds there
				var name string
				of, full, _ := strings.Cut(c.at.owner(), " ")
				namespace, name, _ = strings.Cut(full, "/")
				ref = object{"group": gatewayGroup, "kind": of, "name": name, "sectionName": c.at.Listener}
			case c.kind == "TLSRoute": // it has one rule, of which the controller forgets the name
				delete(ref, "sectionName")
			}
			w.policy(kind, namespace, ref, item.Spec)
		}
	}
}

// mostTargets is how many targets one policy may have.
const mostTargets = 16

// policy writes a policy, or one more target of the policy that says the same already: the larger the input, the longer the controller takes.
func (w *writtenBack) policy(kind, namespace string, ref, spec object) {
	same := kind + " " + namespace + " " + canonical(spec)
	if at, ok := w.same[same]; ok {
		of := w.objects[at]["spec"].(object)
		if refs := of["targetRefs"].([]object); len(refs) < mostTargets {
			of["targetRefs"] = append(refs, ref)
			return
		}
	}
	out := object{}
	for key, value := range spec {
		out[key] = value
	}
	withoutRuleNames(out["rateLimit"])
	out["targetRefs"] = []object{ref}
	w.same[same] = len(w.objects)
	version := envoyGroup + "/v1alpha1"
	if kind == "BackendTLSPolicy" {
		version = gatewayGroup + "/v1"
	}
	w.objects = append(w.objects, object{"apiVersion": version, "kind": kind,
		"metadata": object{"namespace": namespace, "name": fmt.Sprintf("written-%d", len(w.objects))}, "spec": out})
}

// withoutRuleNames takes the names away by which the controller keeps rules of rate limits: they are no part of the API.
func withoutRuleNames(rateLimit any) {
	limits, _ := rateLimit.(object)
	for _, half := range []string{"local", "global"} {
		of, _ := limits[half].(object)
		for _, rule := range entries(of["rules"]) {
			delete(rule, "name")
		}
	}
}

// onListeners writes the effective policies of listeners. The controller refuses a policy for one listener for HTTP whose port another has too, so what
// holds at such listeners is written to the Gateway, and to the others what differs from that.
func (w *writtenBack) onListeners(items []predicted, listeners []listenerPath, ports map[listenerPath]string) {
	specs := map[listenerPath]object{}
	for _, item := range items {
		if strings.HasPrefix(item.PolicyKind, "ClientTrafficPolicy.") {
			for _, path := range item.Paths {
				specs[path] = item.Spec
			}
		}
	}
	whole := map[string]object{}
	for _, l := range listeners {
		shared := slices.ContainsFunc(listeners, func(o listenerPath) bool { return o != l && ports[l] != "" && ports[o] == ports[l] })
		if shared && len(specs[l]) > 0 && whole[l.Gateway] == nil {
			whole[l.Gateway] = specs[l]
			namespace, name, _ := strings.Cut(l.Gateway, "/")
			w.policy("ClientTrafficPolicy", namespace, object{"group": gatewayGroup, "kind": "Gateway", "name": name}, specs[l])
		}
	}
	for _, l := range listeners {
		if canonical(specs[l]) == canonical(whole[l.Gateway]) {
			continue
		}
		kind, owner, _ := strings.Cut(l.owner(), " ")
		namespace, name, _ := strings.Cut(owner, "/")
		w.policy("ClientTrafficPolicy", namespace, object{"group": gatewayGroup, "kind": kind, "name": name, "sectionName": l.Listener}, specs[l])
	}
}
