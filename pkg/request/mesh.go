package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mesh finds the rule for a request that a client in the mesh makes to a Service (gatewayapi G49, G50): by the consumer routes of the
// client's namespace if there are any, else by the producer routes. Hostnames of routes, and the Host header, decide nothing.
func (t *trace) mesh() {
	a, r := t.answer, t.r
	if isAddress(r.Address) {
		if service, found := t.m.graph.ServiceAt(r.Address); found {
			t.toService(service)
			return
		}
		a.Outcome = Passthrough
		t.because("requests to the address of a pod bypass routes")
		return
	}
	t.toService(serviceNamed(r.Address, r.From))
}

// serviceNamed is the Service that a name means to a client in a namespace: svc, svc.ns, svc.ns.svc and below.
func serviceNamed(name, from string) model.Ref {
	parts := strings.Split(name, ".")
	ref := model.Ref{Kind: "Service", Name: parts[0], Namespace: from}
	if len(parts) > 1 && (len(parts) == 2 || parts[2] == "svc") {
		ref.Namespace = parts[1]
	} else if len(parts) > 1 { // a name of the outside world
		ref.Name = name
	}
	return ref
}

func (t *trace) toService(service model.Ref) {
	a, m := t.answer, t.m
	a.Service = service
	if !m.graph.Has(service) {
		a.Outcome = NoMatch
		t.because(service.String() + " is not in the input")
		if !m.graph.KnowsServices(service.Namespace) {
			a.conditional("it may exist all the same")
			a.note(model.Info, model.NotEvaluated, nil, service.String()+" is not in the input", "add the manifest of the Service, or name it as NAME.NAMESPACE")
		}
		return
	}
	port := m.graph.PortName(service, t.r.Port)
	if ports := m.graph.Ports(service); port == "" && ports != nil {
		t.because(fmt.Sprintf("%s has no port %d; it has %s", service, t.r.Port, strings.Join(ports, ", ")))
		return
	}
	front := m.frontends(service, port)
	producers, consumers, kind := t.meshRoutes(front, service)
	from := producers
	what := "producer routes, which hold for every client"
	switch {
	case len(consumers) > 0 && len(producers) > 0 && m.graph.RoutesTogether():
		from, what = slices.Concat(consumers, producers), "producer routes, and consumer routes of namespace "+t.r.From
	case len(consumers) > 0:
		from, what = consumers, "consumer routes of namespace "+t.r.From
	}
	if len(from) == 0 {
		a.Outcome = Passthrough
		a.Backends = []topology.BackendRef{{Ref: service.In(port), Port: t.r.Port, Weight: 1}}
		t.because(fmt.Sprintf("no route governs port %d of %s", t.r.Port, service))
		return
	}
	a.Listener = front[0]
	t.because(fmt.Sprintf("%s is governed by %s", service, what))
	if !t.r.spoken(kind) {
		t.because(fmt.Sprintf("port %d of it belongs to %ss, which take nothing else", t.r.Port, kind))
		return
	}
	if kind == "GRPCRoute" && t.r.Protocol == HTTP {
		t.r.Service, t.r.Call = called(t.r.Path)
		t.because(fmt.Sprintf("port %d of it belongs to GRPCRoutes: the request is taken for a gRPC call", t.r.Port))
	}
	t.hold(from)
	t.order()
	if len(t.sure) == 0 {
		a.Status = t.notFound()
		t.because("no rule of " + kind + "s on " + service.String() + " matches")
		t.openEnds(nil)
		return
	}
	t.choose()
}

// called is the service and the method that a request calls if it is a gRPC call: these are its path, /service/method. What has another path calls
// neither, which only a rule for every call takes.
func called(path string) (service, call string) {
	service, call, found := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !found || call == "" || strings.Contains(call, "/") {
		return "", ""
	}
	return service, call
}

// spoken reports whether routes of a kind understand the request. A gRPC call is an HTTP request, and nothing but what it is sent to tells an
// implementation which one it is: on a port of GRPCRoutes it matches every request by their rules.
func (r *Request) spoken(kind string) bool {
	switch kind {
	case "GRPCRoute", "HTTPRoute":
		return r.Protocol == GRPC || r.Protocol == HTTP
	case "TLSRoute":
		return r.Protocol == TLS || r.Secure
	}
	return true
}

// frontends are the places at which routes are attached to a Service as a whole or to one of its ports.
func (m *Matcher) frontends(service model.Ref, port string) []topology.NodeID {
	refs := []model.Ref{service}
	if port != "" {
		refs = append(refs, service.In(port))
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

// meshRoutes are the candidates on a Service, of the kind of routes that comes first where there are several (gatewayapi G51).
func (t *trace) meshRoutes(front []topology.NodeID, service model.Ref) (producers, consumers []candidate, kind string) {
	kinds := []string{"GRPCRoute", "HTTPRoute", "TLSRoute", "TCPRoute"}
	if t.r.Protocol == UDP { // which has ports of its own
		kinds = []string{"UDPRoute"}
	}
	for _, kind := range kinds {
		producers, consumers = nil, nil
		for _, id := range front {
			for _, b := range t.m.at(id)[kind] {
				for _, c := range b.all() {
					switch c.object.Ref.Namespace {
					case service.Namespace:
						producers = append(producers, c)
					case t.r.From:
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

// all are the candidates of a bucket.
func (b *bucket) all() []candidate {
	out := slices.Clone(b.rest)
	for _, cs := range b.exact {
		out = append(out, cs...)
	}
	for _, cs := range b.prefix {
		out = append(out, cs...)
	}
	return out
}
