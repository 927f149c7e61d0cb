package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// istio compares what Istio's control plane makes of its policies for workloads, Gateways and what waypoints serve.
var istio = peer{Peer: built("istio", "istio.io/istio", "pilot/cmd/dopolicy-peer"), generate: drawIstio, ask: askIstio}

// drawIstio draws two namespaces and the root namespace, which one in five times is another than istio-system; workloads in them, a quarter as
// Deployments; Gateways and waypoints, a third of them with a Pod; Services of those workloads, most behind waypoints; and policies of nine kinds, two in
// five of one kind, that select by few labels or name something. Two of three inputs have policies of the two kinds only that refuse requests. One
// reference in twelve leads nowhere, and one policy in seven names something of another namespace. Every mesh has its ConfigMap, since Istio's control
// plane always has one.
//
// Who is in the mesh is not for the control plane to say: by the labels of namespaces workloads have a sidecar, ztunnel takes their traffic, or they
// are outside, and one in eight says otherwise itself. A third of the meshes have a Gateway of Envoy Gateway, with its Pod. Every Gateway has a route to
// every Service. Tokens are checked with keys in the policy, so that nothing is fetched. Providers of tracing are of types that can trace, because what
// others trace is said by listeners only. What validation refuses is not drawn, as the webhook keeps it out; second waypoints that take a part, several
// clusters and Gateways that are deployed by hand are left out, because the program says of them that it depends.
func drawIstio(s draw.Source) input {
	g := istioInput{drawing: drawing{Source: s}, root: "istio-system", plain: s.Chance(65)}
	if g.Chance(20) {
		g.root = "mesh"
	}
	g.mesh()
	g.classes()
	for _, name := range draw.Numbered("gw", g.Between(0, 2)) {
		g.gateway(name)
	}
	for _, name := range draw.Numbered("wp", draw.Pick(s, 0, 1, 1, 2, 2)) {
		g.waypoint(name)
	}
	g.namespaces()
	for _, name := range draw.Numbered("work", g.Between(1, 3)) {
		g.workload(name)
	}
	for _, name := range draw.Numbered("svc", g.Between(0, 3)) {
		g.service(name)
	}
	g.foreignGateway("front")
	g.routes()
	often := draw.Pick(s, istioKinds...)
	many := g.Between(3, 12)
	if g.plain {
		often, many = istioKinds[0], g.Between(2, 8)
	}
	for i := range many {
		g.policy(fmt.Sprintf("p%d", i), often)
	}
	return input{Objects: g.objects}
}

// istioInput is an input in the making.
type istioInput struct {
	drawing
	root      string
	plain     bool // it has policies of the kinds that judge only
	gateways  []target
	waypoints []target
	served    []target // Services, and the ServiceEntry
	workloads []workload
}

// workload is where a workload is, and one of its labels.
type workload struct{ namespace, name, tier string }

func (g *istioInput) add(version, kind string, metadata, spec object) object {
	o := object{"apiVersion": version, "kind": kind, "metadata": metadata}
	if spec != nil {
		o["spec"] = spec
	}
	g.objects = append(g.objects, o)
	return o
}

// space draws a namespace.
func (g *istioInput) space() string { return draw.Pick(g.Source, "app", "app", "shop", "shop", g.root) }

// mesh adds the ConfigMap with the configuration of the mesh, and the Service that CUSTOM rules ask.
func (g *istioInput) mesh() {
	address := object{"service": "checker.checks.svc.cluster.local", "port": 80}
	config := object{"extensionProviders": []object{
		{"name": "trace-a", "zipkin": address}, {"name": "trace-b", "opentelemetry": address},
		{"name": "log-a", "envoyFileAccessLog": object{"path": "/dev/a"}}, {"name": "log-b", "envoyFileAccessLog": object{"path": "/dev/b"}},
		{"name": "prom-b", "prometheus": object{}},
		{"name": "check-a", "envoyExtAuthzHttp": address}, {"name": "check-b", "envoyExtAuthzGrpc": address},
	}}
	if g.root != "istio-system" {
		config["rootNamespace"] = g.root
	}
	defaults := object{}
	for section, names := range map[string][]string{"tracing": {"trace-a"}, "metrics": {"prometheus"}, "accessLogging": {"log-a"}} {
		defaults[section] = names
	}
	for _, section := range []string{"tracing", "metrics", "accessLogging"} {
		if g.plain || g.Chance(55) {
			delete(defaults, section)
		}
	}
	if len(defaults) > 0 {
		config["defaultProviders"] = defaults
	}
	if !g.plain && g.Chance(40) {
		config["defaultConfig"] = g.proxyConfig("proxyMetadata")
	}
	text, err := json.Marshal(config) // which is YAML
	if err != nil {
		panic(err)
	}
	o := g.add("v1", "ConfigMap", object{"name": "istio", "namespace": "istio-system"}, nil)
	o["data"] = object{"mesh": string(text)}
	g.add("v1", "Namespace", object{"name": "checks"}, nil)
	g.add("v1", "Service", object{"name": "checker", "namespace": "checks"}, object{"clusterIP": "10.0.0.1", "ports": []object{{"name": "http", "port": 80}}})
}

// classes adds the classes of Gateways. That of waypoints says now and then what they are for.
func (g *istioInput) classes() {
	for _, class := range [][2]string{{"istio", "istio.io/gateway-controller"}, {"istio-waypoint", "istio.io/mesh-controller"}, {"eg", "gateway.envoyproxy.io/gatewayclass-controller"}} {
		metadata := object{"name": class[0]}
		if class[0] == "istio-waypoint" && g.Chance(15) {
			metadata["labels"] = object{"istio.io/waypoint-for": draw.Pick(g.Source, "service", "all", "workload")}
		}
		g.add("gateway.networking.k8s.io/v1", "GatewayClass", metadata, object{"controllerName": class[1]})
	}
}

func (g *istioInput) gateway(name string) {
	namespace := g.space()
	g.gateways = append(g.gateways, target{"Gateway", namespace, name, ""})
	g.podOf(namespace, name)
	metadata := g.Made(namespace, name)
	if g.Chance(20) {
		metadata["annotations"] = object{"gateway.istio.io/service-account": "front"}
	}
	g.add("gateway.networking.k8s.io/v1", "Gateway", metadata, object{"gatewayClassName": "istio", "listeners": []object{httpListener()}})
}

// httpListener takes routes of all namespaces.
func httpListener() object {
	return object{"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": object{"namespaces": object{"from": "All"}}}
}

// podOf adds a Pod of a Gateway, now and then. Its other label is one by which policies select.
func (g *istioInput) podOf(namespace, name string) {
	if g.Chance(35) {
		g.add("v1", "Pod", object{"name": name + "-pod", "namespace": namespace, "labels": object{"gateway.networking.k8s.io/gateway-name": name,
			"istio.io/dataplane-mode": "none", "tier": draw.Pick(g.Source, "a", "b")}},
			object{"containers": []object{{"name": "istio-proxy", "image": "proxy"}}})
	}
}

// waypoint adds a waypoint. Half of them take what is in any namespace.
func (g *istioInput) waypoint(name string) {
	namespace := g.space()
	g.waypoints = append(g.waypoints, target{"Gateway", namespace, name, ""})
	g.podOf(namespace, name)
	metadata := g.Made(namespace, name)
	if g.Chance(20) {
		metadata["labels"] = object{"istio.io/waypoint-for": draw.Pick(g.Source, "service", "all", "workload", "none")}
	}
	listener := object{"name": "mesh", "port": 15008, "protocol": "HBONE"}
	switch g.IntN(4) {
	case 0, 1:
		listener["allowedRoutes"] = object{"namespaces": object{"from": "All"}}
	case 2:
		listener["allowedRoutes"] = draw.Pick(g.Source, object{"namespaces": object{"from": "Same"}}, object{"namespaces": object{"from": "Selector", "selector": object{"matchLabels": object{"floor": "top"}}}})
	}
	o := g.add("gateway.networking.k8s.io/v1", "Gateway", metadata, object{"gatewayClassName": "istio-waypoint", "listeners": []object{listener}})
	if g.Chance(8) { // it has no Pods yet
		o["status"] = object{"conditions": []object{{"type": "Programmed", "status": "False", "reason": "AddressNotAssigned", "message": "", "lastTransitionTime": "2025-01-01T00:00:00Z"}}}
	}
}

// namespaces adds the namespaces; some name a waypoint for all that is in them, and say whether Gateways send through it.
func (g *istioInput) namespaces() {
	for _, name := range []string{"app", "shop", g.root} {
		marks := draw.Pick(g.Source, object{"istio-injection": "enabled"}, object{"istio-injection": "enabled"}, object{"istio.io/dataplane-mode": "ambient"},
			object{"istio.io/dataplane-mode": "ambient"}, object{})
		g.ingressUse(marks, 20)
		if g.Chance(30) {
			marks["floor"] = "top"
		}
		g.useWaypoint(marks, name, 50)
		g.add("v1", "Namespace", object{"name": name, "labels": marks}, nil)
	}
}

// useWaypoint adds the labels with which something names its waypoint.
func (g *istioInput) useWaypoint(marks object, namespace string, percent int) {
	if len(g.waypoints) == 0 || !g.Chance(percent) {
		return
	}
	w := draw.Pick(g.Source, g.waypoints...)
	marks["istio.io/use-waypoint"] = w.name
	if w.namespace != namespace || g.Chance(20) {
		marks["istio.io/use-waypoint-namespace"] = w.namespace
	}
	if g.Chance(8) {
		marks["istio.io/use-waypoint"] = draw.Pick(g.Source, "none", "missing")
	}
}

// ingressUse adds the label with which something says whether Gateways send through its waypoint.
func (g *istioInput) ingressUse(marks object, percent int) {
	if g.Chance(percent) {
		marks["istio.io/ingress-use-waypoint"] = draw.Pick(g.Source, "true", "true", "true", "True", "1", "false", "yes", "TRue")
	}
}

// service adds a Service, or one time in six a ServiceEntry. Most Services are in the namespace of a workload, and select it or its like; one in six
// has no address.
func (g *istioInput) service(name string) {
	w := draw.Pick(g.Source, g.workloads...)
	namespace := draw.Pick(g.Source, w.namespace, w.namespace, w.namespace, g.space())
	metadata, marks := g.Made(namespace, name), object{}
	g.useWaypoint(marks, namespace, 50)
	g.ingressUse(marks, 40)
	metadata["labels"] = marks
	if g.Chance(17) {
		g.served = append(g.served, target{"ServiceEntry", namespace, name, ""})
		g.add("networking.istio.io/v1", "ServiceEntry", metadata, object{"hosts": []string{name + ".example.com"}, "location": "MESH_INTERNAL", "resolution": "STATIC",
			"addresses": []string{fmt.Sprintf("10.2.0.%d", g.value())}, "ports": []object{{"number": 80, "name": "http", "protocol": "HTTP"}}, "endpoints": []object{{"address": "10.3.0.1"}}})
		return
	}
	g.served = append(g.served, target{"Service", namespace, name, ""})
	port := object{"name": "http", "port": 80}
	if g.Chance(60) {
		port["targetPort"] = 8080
	}
	spec := object{"clusterIP": fmt.Sprintf("10.1.0.%d", g.value()), "selector": draw.Pick(g.Source, object{"app": w.name}, object{"set": "one"}, object{"set": "two"}), "ports": []object{port}}
	if g.Chance(17) {
		spec["clusterIP"] = "None"
	}
	g.add("v1", "Service", metadata, spec)
}

// foreignGateway adds a Gateway of Envoy Gateway, one time in three, whose Pod is in a namespace of its controller: in the mesh or, more often, not.
func (g *istioInput) foreignGateway(name string) {
	if !g.Chance(33) {
		return
	}
	const home = "envoy-gateway-system"
	namespace := g.space()
	g.add("v1", "Namespace", object{"name": home, "labels": draw.Pick(g.Source, object{}, object{}, object{"istio.io/dataplane-mode": "ambient"})}, nil)
	g.add("gateway.networking.k8s.io/v1", "Gateway", g.Made(namespace, name), object{"gatewayClassName": "eg", "listeners": []object{httpListener()}})
	g.add("v1", "Pod", object{"name": "envoy-front", "namespace": home, "labels": object{"gateway.envoyproxy.io/owning-gateway-name": name, "gateway.envoyproxy.io/owning-gateway-namespace": namespace}},
		object{"serviceAccountName": "envoy-front", "containers": []object{{"name": "envoy", "image": "proxy"}}})
}

// routes adds a route from every Gateway to every Service, each for a host of its own.
func (g *istioInput) routes() {
	for _, o := range slices.Clone(g.objects) {
		if o["kind"] != "Gateway" || at(o, "spec", "gatewayClassName") == "istio-waypoint" {
			continue
		}
		for _, t := range g.served {
			if t.kind != "Service" {
				continue
			}
			name := fmt.Sprintf("to-%s-%v", t.name, at(o, "metadata", "name"))
			g.add("gateway.networking.k8s.io/v1", "HTTPRoute", object{"name": name, "namespace": t.namespace}, object{"hostnames": []string{name + ".example.com"},
				"parentRefs": []object{{"namespace": at(o, "metadata", "namespace"), "name": at(o, "metadata", "name")}},
				"rules":      []object{{"backendRefs": []object{{"name": t.name, "port": 80}}}}})
		}
	}
}

// workload adds a Pod or a Deployment. Its label app is its own, tier is of many, and by set Services select it.
func (g *istioInput) workload(name string) {
	w := workload{g.space(), name, draw.Pick(g.Source, "a", "b")}
	g.workloads = append(g.workloads, w)
	marks := object{"app": name, "tier": w.tier, "set": draw.Pick(g.Source, "one", "two")}
	g.useWaypoint(marks, w.namespace, 20)
	switch g.IntN(16) {
	case 0:
		marks["sidecar.istio.io/inject"] = "false"
	case 1:
		marks["istio.io/dataplane-mode"] = "none"
	}
	metadata := object{"labels": marks}
	if !g.plain && g.Chance(30) {
		text, err := json.Marshal(g.proxyConfig("proxyMetadata"))
		if err != nil {
			panic(err)
		}
		metadata["annotations"] = object{"proxy.istio.io/config": string(text)}
	}
	pod := object{"containers": []object{{"name": "main", "image": "app"}}}
	if g.Chance(40) {
		pod["serviceAccountName"] = draw.Pick(g.Source, "one", "two")
	}
	if g.Chance(25) {
		g.add("apps/v1", "Deployment", g.Made(w.namespace, name), object{"selector": object{"matchLabels": object{"app": name}}, "template": object{"metadata": metadata, "spec": pod}})
		return
	}
	metadata["name"], metadata["namespace"] = name, w.namespace
	o := g.add("v1", "Pod", metadata, pod)
	if g.Chance(60) {
		address := fmt.Sprintf("10.9.1.%d", g.value())
		o["status"] = object{"phase": "Running", "podIP": address, "podIPs": []object{{"ip": address}}}
	}
}
