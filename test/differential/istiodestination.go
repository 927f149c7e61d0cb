package main

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// destination adds a DestinationRule for a Service, in its namespace or in the root namespace. Rules of other namespaces are for their own clients
// only, or for none of those who are asked about; rules for clients with some labels and for patterns of hosts are not evaluated. A rule of the root
// namespace names no others beside a dot, which is not for its own clients and still may keep those of other rules apart.
func (g *istioInput) destination(name string) {
	var services []target
	for _, t := range g.served {
		if t.kind == "Service" {
			services = append(services, t)
		}
	}
	if services == nil {
		return
	}
	t := draw.Pick(g.Source, services...)
	namespace, host := t.namespace, t.name
	if g.Chance(20) {
		namespace = g.root
	}
	if namespace != t.namespace || g.Chance(50) {
		host += "." + t.namespace + ".svc.cluster.local"
	}
	spec := object{"host": host}
	if g.Chance(60) {
		spec["trafficPolicy"] = object{"connectionPool": object{"http": object{"maxRetries": g.value()}}}
	}
	var subsets []object
	for _, subset := range draw.Some(g.Source, 35, "v1", "v2", "v3") {
		subsets = append(subsets, object{"name": subset, "labels": object{"version": fmt.Sprintf("%d", g.value())}})
	}
	if g.Chance(70) {
		spec["subsets"] = subsets
	}
	if exports := draw.Pick(g.Source, nil, nil, nil, []string{"*"}, []string{"."}, []string{".", "checks"}, []string{namespace}); exports != nil && (namespace != g.root || len(exports) == 1) {
		spec["exportTo"] = exports
	}
	g.add("networking.istio.io/v1", "DestinationRule", g.Made(namespace, name), spec)
}

// clients is the namespace whose clients an answer about a Service is for: that of the rules.
func (i istioItem) clients() string {
	for _, rule := range i.Rules {
		for _, s := range rule.Sources {
			return s.Policy.Namespace
		}
	}
	return ""
}

// destinationFact is what the fact about a DestinationRule is called.
func (i istioItem) destinationFact() string {
	return "destination Service " + i.Target.Namespace + "/" + i.Target.Name + " from " + i.clients()
}

// elsewhere notes that of Services with an answer nothing is said for the clients of other namespaces.
func elsewhere(out facts, in *input) {
	for _, o := range in.Objects {
		name := fmt.Sprintf("destination Service %v/%v from ", at(o, "metadata", "namespace"), at(o, "metadata", "name"))
		said := false
		for key := range out {
			said = said || strings.HasPrefix(key, name)
		}
		for _, client := range []string{"app", "shop", "istio-system", "mesh"} {
			if said && out[name+client] == "" {
				out[name+client] = unsaid
			}
		}
	}
}
