package request

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findInMesh finds the rule for a request that a client in the mesh makes to a Service (gatewayapi
// G49, G50): by the consumer routes of the client's namespace if there are any, else by the
// producer routes. Hostnames of routes, and the Host header, decide nothing.
func (t *trace) findInMesh() {
	a, r := t.answer, t.request
	if isAddress(r.Address) {
		if service, found := t.matcher.graph.ServiceByIP(r.Address); found {
			t.findAtService(service)
			return
		}
		a.Outcome = Passthrough
		t.addReason("requests to the address of a pod bypass routes")
		return
	}
	t.findAtService(parseServiceName(r.Address, r.From))
}

// parseServiceName returns the Service that a name means to a client in a namespace: svc, svc.ns,
// svc.ns.svc and below.
func parseServiceName(name, from string) model.Ref {
	parts := strings.Split(name, ".")
	ref := model.Ref{Kind: "Service", Name: parts[0], Namespace: from}
	if len(parts) > 1 && (len(parts) == 2 || parts[2] == "svc") {
		ref.Namespace = parts[1]
	} else if len(parts) > 1 { // a name of the outside world
		ref.Name = name
	}
	return ref
}

func (t *trace) findAtService(service model.Ref) {
	a, m := t.answer, t.matcher
	a.Service = service
	t.settings = m.settingsInMesh(service)
	if !m.graph.HasObject(service) {
		a.Outcome = NoMatch
		e := m.graph.FindExistence(service)
		t.addReason(cmp.Or(e.Why, service.String()+" is not in the input"))
		if e.Presence != model.Missing {
			a.makeRuleUncertain("it may exist all the same")
			a.addProblem(model.Info, model.NotEvaluated, nil, service.String()+" is not in the input",
				"add the manifest of the Service, or name it as NAME.NAMESPACE")
		}
		return
	}
	port := m.graph.PortName(service, t.request.Port)
	if ports := m.graph.DescribePorts(service); port == "" && ports != nil {
		t.addReason(fmt.Sprintf("%s has no port %d; it has %s", service, t.request.Port, strings.Join(ports, ", ")))
		return
	}
	front := m.findFrontends(service, port)
	producers, consumers, kind := t.meshCandidates(front, service)
	from := producers
	what := "producer routes, which hold for every client"
	switch {
	case len(consumers) > 0 && len(producers) > 0 && m.graph.RoutesTogether():
		from, what = slices.Concat(consumers, producers), "producer routes, and consumer routes of namespace "+
			t.request.From
	case len(consumers) > 0:
		from, what = consumers, "consumer routes of namespace "+t.request.From
	}
	if len(from) == 0 {
		a.Outcome = Passthrough
		a.Backends = []topology.BackendRef{{Ref: service.WithSection(port), Port: t.request.Port, Weight: 1}}
		t.addReason(fmt.Sprintf("no route governs port %d of %s", t.request.Port, service))
		return
	}
	a.Listener = front[0]
	t.addReason(fmt.Sprintf("%s is governed by %s", service, what))
	if !t.request.isUnderstoodBy(kind) {
		t.addReason(fmt.Sprintf("port %d of it belongs to %ss, which take nothing else", t.request.Port, kind))
		return
	}
	if kind == "GRPCRoute" && t.request.Protocol == HTTP {
		t.request.Service, t.request.Call = parseCall(t.request.Path)
		t.addReason(fmt.Sprintf("port %d of it belongs to GRPCRoutes: the request is taken for a gRPC call",
			t.request.Port))
	}
	t.filterCandidates(from)
	t.sortCandidates()
	if len(t.sure) == 0 {
		a.Status = t.notFoundStatus()
		t.addReason("no rule of " + kind + "s on " + service.String() + " matches")
		t.checkUnsureCandidates(nil)
		return
	}
	t.chooseBest()
}

// parseCall returns the service and the method that a request calls if it is a gRPC call: these are
// its path, /service/method. A request with another path calls neither; only a rule for every call
// takes it.
func parseCall(path string) (service, call string) {
	service, call, found := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !found || call == "" || strings.Contains(call, "/") {
		return "", ""
	}
	return service, call
}

// isUnderstoodBy reports whether routes of a kind understand the request. A gRPC call is an HTTP
// request, and only its target tells an implementation which one it is: on a port of GRPCRoutes it
// matches every request by their rules.
func (r *Request) isUnderstoodBy(kind string) bool {
	switch kind {
	case "GRPCRoute", "HTTPRoute":
		return r.Protocol == GRPC || r.Protocol == HTTP
	case "TLSRoute":
		return r.Protocol == TLS || r.Secure
	}
	return true
}

// findFrontends returns the places at which routes are attached to a Service as a whole or to one
// of its ports.
func (m *Matcher) findFrontends(service model.Ref, port string) []topology.NodeID {
	refs := []model.Ref{service}
	if port != "" {
		refs = append(refs, service.WithSection(port))
	}
	var out []topology.NodeID
	for _, ref := range refs {
		id := m.graph.Frontend(ref)
		if id != topology.None && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// meshCandidates returns the candidates on a Service, of the kind of routes that comes first where
// there are several (gatewayapi G51).
func (t *trace) meshCandidates(front []topology.NodeID, service model.Ref) (producers, consumers []candidate,
	kind string) {
	kinds := []string{"GRPCRoute", "HTTPRoute", "TLSRoute", "TCPRoute"}
	if t.request.Protocol == UDP { // which has ports of its own
		kinds = []string{"UDPRoute"}
	}
	for _, kind := range kinds {
		producers, consumers = nil, nil
		for _, id := range front {
			for _, b := range t.matcher.findIndex(id)[kind] {
				for _, c := range b.listCandidates() {
					switch c.object.Ref.Namespace {
					case service.Namespace:
						producers = append(producers, c)
					case t.request.From:
						consumers = append(consumers, c)
					}
				}
			}
		}
		if len(producers)+len(consumers) > 0 {
			return producers, consumers, kind
		}
	}
	return nil, nil, ""
}

// listCandidates returns the candidates of a bucket.
func (b *bucket) listCandidates() []candidate {
	out := slices.Clone(b.rest)
	for _, cs := range b.exact {
		out = append(out, cs...)
	}
	for _, cs := range b.prefix {
		out = append(out, cs...)
	}
	return out
}
