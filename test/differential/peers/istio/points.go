package main

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/security/authn"
	"istio.io/istio/pilot/pkg/xds/endpoints"
	"istio.io/istio/pkg/config/host"
	"istio.io/istio/pkg/workloadapi"
	"istio.io/istio/pkg/workloadapi/security"
)

// answerPort is the port of Pods that are asked about by themselves.
const answerPort = 8080

// hop is a connection that is asked about.
type hop struct {
	key     string
	from    pod
	proxy   *model.Proxy       // that sends; nil: it has none of its own
	service *model.ServiceInfo // whose address is asked for; nil: that of a Pod
	backend *model.ServiceInfo // whose Pods are dialed; nil: that of one Pod is
	to      []*workloadapi.Workload
}

// points notes by which points a request comes, and the policies there: of every route, from every workload to every Service, and from the first
// workload to the second.
func (w *world) points(out facts, objects []manifest) {
	byRef := map[string]manifest{}
	var clients []pod
	for _, o := range objects {
		byRef[ref(o)] = o
		if p := w.pod(o.namespace(), o.name()); o.pods() != nil && p.labels[gatewayName] == "" {
			clients = append(clients, p)
		}
	}
	workloads := w.workloads()
	for _, o := range objects {
		switch o.kind() {
		case "HTTPRoute":
			w.route(out, o, byRef, workloads)
		case "Service":
			for _, p := range clients {
				w.walk(out, hop{key: "Pod " + p.namespace + "/" + p.name + " to " + ref(o), from: p, service: w.info(o)}, workloads)
			}
		}
	}
	if len(clients) > 1 {
		from, to := clients[0], clients[1]
		w.walk(out, hop{key: "Pod " + from.namespace + "/" + from.name + " to Pod " + to.namespace + "/" + to.name, from: from,
			to: []*workloadapi.Workload{workloads[to.namespace+"/"+to.name]}}, workloads)
	}
}

// info is a Service as the ambient index has it.
func (w *world) info(o manifest) *model.ServiceInfo {
	return w.server.Env().ServiceInfo(o.namespace() + "/" + hostname(o.name(), o.namespace()))
}

// route notes the points behind a route: the proxies of its Gateway send to its Service.
func (w *world) route(out facts, o manifest, byRef map[string]manifest, workloads map[string]*workloadapi.Workload) {
	parents, _ := o.at("spec", "parentRefs").([]any)
	rules, _ := o.at("spec", "rules").([]any)
	if len(parents) == 0 || len(rules) == 0 {
		return
	}
	parent := manifest(parents[0].(map[string]any))
	backends, _ := manifest(rules[0].(map[string]any)).at("backendRefs").([]any)
	gateway := byRef["Gateway "+parent.text("namespace")+"/"+parent.text("name")]
	if len(backends) == 0 || gateway == nil {
		return
	}
	service := byRef["Service "+o.namespace()+"/"+manifest(backends[0].(map[string]any)).text("name")]
	if service == nil {
		return
	}
	h := hop{key: ref(o), service: w.info(service)}
	if gateway.text("spec", "gatewayClassName") == foreignClass {
		for _, p := range w.pods {
			if p.labels["gateway.envoyproxy.io/owning-gateway-name"] == gateway.name() && p.labels["gateway.envoyproxy.io/owning-gateway-namespace"] == gateway.namespace() {
				h.from = p
			}
		}
		if h.from.name == "" {
			return
		}
		h.to, h.service, h.backend = w.behindService(h.service, workloads), nil, h.service // it connects to Pods
	} else {
		h.from = w.podOf(gateway)
		h.proxy = w.proxy(model.Router, gateway, h.from.labels, nil)
		out.note("edge "+h.key, w.inForce(h.proxy, nil))
	}
	w.walk(out, h, workloads)
}

// podOf is the Pod of a Gateway.
func (w *world) podOf(gateway manifest) pod {
	for _, p := range w.pods {
		if p.namespace == gateway.namespace() && p.labels[gatewayName] == gateway.name() {
			return p
		}
	}
	return pod{}
}

// behindService lists the workloads that a Service selects.
func (w *world) behindService(s *model.ServiceInfo, workloads map[string]*workloadapi.Workload) []*workloadapi.Workload {
	var out []*workloadapi.Workload
	for _, p := range workloads {
		if _, is := p.Services[s.Service.Namespace+"/"+s.Service.Hostname]; is {
			out = append(out, p)
		}
	}
	return out
}

// walk notes the waypoints of a hop, passed or not, and what the workloads have that it comes to. Of a waypoint that it does not pass, the policies are
// those that hold for anything else that leads through it to the same Pods.
func (w *world) walk(out facts, h hop, workloads map[string]*workloadapi.Workload) {
	ofService := ""
	if h.service != nil {
		h.backend, h.to = h.service, w.behindService(h.service, workloads)
	}
	if h.backend != nil {
		ofService = waypointOf(h.backend.Service.GetWaypoint())
	}
	through, around := map[string][]string{}, map[string][]string{} // policies by waypoint
	pass := func(waypoint string, service *model.ServiceInfo) {
		if waypoint != "" {
			through[waypoint] = w.atWaypoint(waypoint, service)
		}
	}
	bypass := func(waypoint string, service *model.ServiceInfo) {
		if waypoint != "" {
			around[waypoint] = append(around[waypoint], w.atWaypoint(waypoint, service)...)
		}
	}
	for _, to := range h.to {
		passed := w.passed(h, to, ofService)
		source := h.from
		if passed != "" {
			source = w.podOfWaypoint(passed)
		}
		own := waypointOf(to.Waypoint)
		if w.dialsPod(h) {
			pass(passed, nil)
		} else {
			pass(passed, h.backend)
		}
		bypass(own, nil)
		if h.backend != nil {
			bypass(ofService, h.backend)
		} else {
			for key := range to.Services {
				if s := w.server.Env().ServiceInfo(key); s != nil {
					bypass(waypointOf(s.Service.GetWaypoint()), s)
				}
			}
		}
		w.atWorkload(out, h, source, to)
	}
	for waypoint, policies := range around {
		if _, passed := through[waypoint]; !passed {
			slices.Sort(policies)
			out.note("waypoint "+h.key+" "+waypoint, map[string]any{"passed": false, "policies": slices.Compact(policies)})
		}
	}
	for waypoint, policies := range through {
		out.note("waypoint "+h.key+" "+waypoint, map[string]any{"passed": true, "policies": policies})
	}
}

// dialsPod reports whether ztunnel sees the address of a Pod.
func (w *world) dialsPod(h hop) bool {
	return h.proxy == nil && (h.service == nil || len(h.service.Service.Addresses) == 0)
}

// passed is the waypoint that a hop leads through: of a Gateway or a sidecar by the endpoints that its proxy has, of a client of ztunnel that of the
// Service if its address is dialed, else that of the Pod (ztunnel src/proxy/outbound.rs, build_request). Nobody else knows waypoints.
func (w *world) passed(h hop, to *workloadapi.Workload, ofService string) string {
	switch {
	case h.proxy == nil && h.from.member == sidecar && h.service != nil:
		h.proxy = w.proxy(model.SidecarProxy, manifest{"metadata": map[string]any{"name": h.from.name, "namespace": h.from.namespace}}, h.from.labels, nil)
	case h.proxy != nil:
	case h.from.member != ztunnel:
		return ""
	case w.dialsPod(h):
		return waypointOf(to.Waypoint)
	default:
		return ofService
	}
	for _, address := range w.endpoints(h) {
		for _, p := range w.pods {
			if p.address == address && p.labels[gatewayName] != "" {
				return p.namespace + "/" + p.labels[gatewayName]
			}
		}
	}
	return ""
}

// endpoints are the addresses to which a proxy sends what is for a Service.
func (w *world) endpoints(h hop) []string {
	var out []string
	name := model.BuildSubsetKey(model.TrafficDirectionOutbound, "", host.Name(h.service.Service.Hostname), 80)
	b := endpoints.NewEndpointBuilder(name, h.proxy, w.push)
	for _, place := range b.BuildClusterLoadAssignment(w.server.Env().EndpointIndex).GetEndpoints() {
		for _, e := range place.LbEndpoints {
			out = append(out, address(e))
		}
	}
	return out
}

// address is where an endpoint is, by itself or through a tunnel.
func address(e *endpoint.LbEndpoint) string {
	at := e.GetEndpoint().GetAddress()
	if id := at.GetEnvoyInternalAddress().GetEndpointId(); id != "" {
		ip, _, err := net.SplitHostPort(id)
		if err != nil {
			return id
		}
		return ip
	}
	return at.GetSocketAddress().GetAddress()
}

// waypointOf is a waypoint by namespace and name; "": there is none.
func waypointOf(at *workloadapi.GatewayAddress) string {
	h := at.GetHostname()
	if h == nil {
		return ""
	}
	name, _, _ := strings.Cut(h.Hostname, ".")
	return h.Namespace + "/" + name
}

// waypoint is the proxy of a waypoint.
func (w *world) waypoint(name string) *model.Proxy {
	namespace, short, _ := strings.Cut(name, "/")
	o := manifest{"metadata": map[string]any{"name": short, "namespace": namespace}}
	return w.proxy(model.Waypoint, o, w.podOfWaypoint(name).labels, nil)
}

func (w *world) podOfWaypoint(name string) pod {
	namespace, short, _ := strings.Cut(name, "/")
	return w.podOf(manifest{"metadata": map[string]any{"name": short, "namespace": namespace}})
}

// atWaypoint lists the policies of a waypoint for a Service, or for what is sent to Pods.
func (w *world) atWaypoint(name string, service *model.ServiceInfo) []string {
	if service == nil {
		return w.inForce(w.waypoint(name), nil)
	}
	for _, s := range w.server.Env().Services() {
		if string(s.Hostname) == service.Service.Hostname && s.Attributes.Namespace == service.Service.Namespace {
			return w.inForce(w.waypoint(name), s)
		}
	}
	return []string{"no such Service"}
}

// inForce lists the policies by which a proxy refuses requests. Those that are only tried are left out.
func (w *world) inForce(proxy *model.Proxy, service *model.Service) []string {
	var out []string
	matcher := model.PolicyMatcherForProxy(proxy).WithService(service).WithRootNamespace(w.push.AuthzPolicies.RootNamespace)
	policies := w.push.AuthzPolicies.ListAuthorizationPolicies(matcher)
	for _, list := range [][]model.AuthorizationPolicy{policies.Custom, policies.Deny, policies.Allow} {
		for _, p := range list {
			if tried, _ := strconv.ParseBool(p.Annotations["istio.io/dry-run"]); !tried {
				out = append(out, p.Namespace+"/"+p.Name)
			}
		}
	}
	slices.Sort(out) // their order is another fact
	return out
}

// atWorkload notes what is in force in front of a workload, whom it sees, and what ztunnel says to that.
func (w *world) atWorkload(out facts, h hop, source pod, to *workloadapi.Workload) {
	at := w.pod(to.Namespace, to.Name)
	if at.member == outside {
		return
	}
	c := connection{port: answerPort, address: netip.MustParseAddr(source.address)}
	if h.backend != nil {
		for _, p := range to.Services[h.backend.Service.Namespace+"/"+h.backend.Service.Hostname].GetPorts() {
			c.port = p.TargetPort
		}
	}
	if source.member != outside || source.labels[gatewayName] != "" {
		c.namespace, c.account = source.namespace, source.account
	}
	name := " " + h.key + " " + to.Namespace + "/" + to.Name
	if at.member == sidecar {
		w.atSidecar(out, name, at, c)
		return
	}
	var policies []string
	all := w.sent(to, true)
	for _, a := range all {
		if a.Action == security.Action_ALLOW || len(groups(a)) > 0 {
			policies = append(policies, a.Namespace+"/"+a.Name)
		}
	}
	slices.Sort(policies)
	modes := w.sent(to, false)
	stranger := connection{port: c.port, address: c.address}
	out.note("workload"+name, map[string]any{"kind": "ztunnel", "policies": policies, "strict": stranger.judged(modes) == "denied"})
	out.note("identity"+name, c.identity())
	out.note("verdict"+name, c.judged(append(modes, all...)))
}

// atSidecar notes the same of a workload with a sidecar. What that says depends on the request.
func (w *world) atSidecar(out facts, name string, at pod, c connection) {
	proxy := w.proxy(model.SidecarProxy, manifest{"metadata": map[string]any{"name": at.name, "namespace": at.namespace}}, at.labels, nil)
	mode := authn.NewPolicyApplier(w.push, proxy, nil).GetMutualTLSModeForPort(c.port)
	out.note("workload"+name, map[string]any{"kind": "sidecar", "policies": w.inForce(proxy, nil), "strict": mode == model.MTLSStrict})
	out.note("identity"+name, c.identity())
}
