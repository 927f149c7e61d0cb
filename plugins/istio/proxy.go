package istio

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// Labels and classes that Istio reads.
const (
	gatewayNameLabel  = "gateway.networking.k8s.io/gateway-name"
	waypointClass     = "istio-waypoint"
	meshController    = "istio.io/mesh-controller"
	managedLabel      = "gateway.istio.io/managed"
	managedByMesh     = "istio.io-mesh-controller"
	gatewayController = "istio.io/gateway-controller"
)

// proxyForm is what a proxy is to policies.
type proxyForm int

const (
	sidecar proxyForm = iota // a workload that is no Gateway of the Gateway API
	ingress
	waypoint
)

// proxy is a workload or a Gateway, as policies see it.
type proxy struct {
	form        proxyForm
	object      *model.Object // a Pod, what has a template of Pods, or a Gateway
	name        string        // of the Gateway; "" of other workloads
	pods        []map[string]string
	annotations map[string]string // annotations of the Pods
	assumed     bool              // of a Gateway: none of its Pods is in the input
	membership  membership        // of a workload
}

func (p *proxy) namespace() string { return p.object.Ref.Namespace }

// matchSelector reports whether a selector picks the proxy: with its first Pod; split is true where
// it picks only some of them.
func (p *proxy) matchSelector(want model.Body) (picked, split bool) {
	n := 0
	for _, labels := range p.pods {
		if hasLabels(labels, want) {
			n++
		}
	}
	return n > 0, n > 0 && n < len(p.pods)
}

func hasLabels(labels map[string]string, want model.Body) bool {
	for key, value := range want.Fields {
		if have, ok := labels[key]; !ok || have != value.Text() {
			return false
		}
	}
	return true
}

// target is what policies are in force at: a proxy, or what a waypoint serves.
type target struct {
	*proxy
	service *model.Object // a Service or ServiceEntry behind the waypoint; nil: the proxy itself
}

// representativeObject is the object that stands for the target.
func (t target) representativeObject() *model.Object {
	if t.service != nil {
		return t.service
	}
	return t.object
}

// proxyIndex is the proxies of an input and what they serve.
type proxyIndex struct {
	meshConfig
	in                *model.Snapshot
	targets           []target
	byNamespace       map[string][]target // by that of the proxy, and of what it serves
	outside           []target            // workloads that are not in the mesh
	undecidedServices []*model.Object     // of which it is not known whether a waypoint serves them, or which
	allNamespaces     []string            // the namespaces of the input, sorted
}

// buildProxyIndex finds all proxies, in the order of the input.
func buildProxyIndex(in *model.Snapshot, s model.Settings) *proxyIndex {
	w := &proxyIndex{meshConfig: readMeshConfig(in, s), in: in, byNamespace: map[string][]target{}}
	gateways := map[model.Ref]*proxy{}
	for _, o := range in.OfKind(gatewayKind) {
		if form, ok := findGatewayForm(in, o); ok {
			gateways[o.Ref] = &proxy{form: form, object: o, name: o.Ref.Name}
		}
	}
	var workloads []*proxy
	for _, o := range workload.List(in) {
		labels, notes := workload.PodMetadata(o)
		p := &proxy{object: o, pods: []map[string]string{labels}, annotations: notes, name: labels[gatewayNameLabel],
			membership: findMembership(in, o, labels, notes)}
		if gw := gateways[model.Ref{Group: gatewayGroup, Kind: "Gateway", Namespace: o.Ref.Namespace,
			Name: p.name}]; gw != nil {
			gw.pods, gw.annotations = append(gw.pods, labels), notes
			continue
		}
		switch {
		case p.name == "":
		case labels[managedLabel] == managedByMesh:
			p.form = waypoint
		default:
			p.form = ingress
		}
		if p.form == sidecar && p.membership == excludedMember {
			w.outside = append(w.outside, target{proxy: p})
			continue
		}
		workloads = append(workloads, p)
	}
	for _, p := range workloads {
		w.addTarget(target{proxy: p})
	}
	for _, o := range in.OfKind(gatewayKind) {
		if p := gateways[o.Ref]; p != nil {
			if len(p.pods) == 0 {
				p.assumed, p.pods = true, []map[string]string{{gatewayNameLabel: p.name}}
			}
			w.addTarget(target{proxy: p})
		}
	}
	for _, gk := range []model.GroupKind{serviceKind, serviceEntryKind} {
		for _, o := range in.OfKind(gk) {
			b := findWaypoint(in, o)
			if b.gateway != nil && !b.denied {
				if p := gateways[b.gateway.Ref]; p != nil && p.form == waypoint {
					w.addTarget(target{proxy: p, service: o})
				}
			}
			if b.denied || b.canary || b.unknown != "" {
				w.undecidedServices = append(w.undecidedServices, o)
			}
		}
	}
	w.allNamespaces = w.listNamespaces(in)
	return w
}

func (w *proxyIndex) addTarget(t target) {
	w.targets = append(w.targets, t)
	w.byNamespace[t.namespace()] = append(w.byNamespace[t.namespace()], t)
	if t.service != nil && t.service.Ref.Namespace != t.namespace() {
		w.byNamespace[t.service.Ref.Namespace] = append(w.byNamespace[t.service.Ref.Namespace], t)
	}
}

// targetsNear returns the targets that a policy of a namespace may hold at: those of the root
// namespace everywhere.
func (w *proxyIndex) targetsNear(namespace string) []target {
	if namespace == w.root {
		return w.targets
	}
	return w.byNamespace[namespace]
}

// findGatewayForm is what a Gateway is to Istio; false if it is none of Istio's.
func findGatewayForm(in *model.Snapshot, o *model.Object) (proxyForm, bool) {
	class := o.Text("spec", "gatewayClassName")
	if class == waypointClass {
		return waypoint, true
	}
	c := in.Get(model.Ref{Group: gatewayGroup, Kind: "GatewayClass", Name: class})
	switch {
	case c == nil:
		return ingress, class == "istio" || class == "istio-remote"
	case c.Text("spec", "controllerName") == meshController:
		return waypoint, true
	}
	return ingress, slices.Contains(controllers, c.Text("spec", "controllerName"))
}

// namespacesOf returns the namespaces in which a policy holds that is for all of its own: those of
// the root namespace hold everywhere.
func (w *proxyIndex) namespacesOf(namespace string) []string {
	if namespace == w.root {
		return w.allNamespaces
	}
	return []string{namespace}
}

// listNamespaces lists the root namespace, those of targets, those in the input and those of
// policies that say something of whole namespaces, sorted.
func (w *proxyIndex) listNamespaces(in *model.Snapshot) []string {
	names := map[string]bool{w.root: true}
	for _, t := range w.targets {
		names[t.representativeObject().Ref.Namespace] = true
	}
	for _, o := range in.OfKind(namespaceKind) {
		names[o.Ref.Name] = true
	}
	for _, gk := range []model.GroupKind{{Group: securityGroup, Kind: "PeerAuthentication"},
		{Group: networkingGroup, Kind: "EnvoyFilter"}} {
		for _, o := range in.OfKind(gk) {
			names[o.Ref.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
