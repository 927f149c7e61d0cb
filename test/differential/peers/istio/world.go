package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/test/xds"
	"istio.io/istio/pkg/config/labels"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/schema/gvk"
	"istio.io/istio/pkg/kube/krt"
	"istio.io/istio/pkg/test"
)

// manifest is an object of the input.
type manifest map[string]any

func (m manifest) text(path ...string) string {
	text, _ := m.at(path...).(string)
	return text
}

func (m manifest) at(path ...string) any {
	var v any = map[string]any(m)
	for _, key := range path {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	return v
}

// texts is an object of texts.
func (m manifest) texts(path ...string) map[string]string {
	out := map[string]string{}
	fields, _ := m.at(path...).(map[string]any)
	for key, v := range fields {
		out[key] = fmt.Sprint(v)
	}
	return out
}

func (m manifest) kind() string      { return m.text("kind") }
func (m manifest) name() string      { return m.text("metadata", "name") }
func (m manifest) namespace() string { return m.text("metadata", "namespace") }

// world is a control plane that has read the objects of an input.
type world struct {
	server     *xds.FakeDiscoveryServer
	push       *model.PushContext
	conditions map[string]condition // by policy
	pods       []pod
}

// waypointClass is the class of waypoints, and foreignClass that of Gateways of others.
const (
	waypointClass = "istio-waypoint"
	foreignClass  = "eg"
)

// start starts a control plane over the objects. What other controllers would add stands in for them: the addresses of Gateways and their Pods, the
// Services of waypoints, by which they are found, and the EndpointSlices of Services.
func start(t test.Failer, objects []manifest) (*world, error) {
	config := ""
	var cluster, istio []string
	pods, err := findPods(objects)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		group, _, _ := strings.Cut(o.text("apiVersion"), "/")
		switch {
		case o.kind() == "ConfigMap":
			config = o.text("data", "mesh")
		case o.kind() == "Gateway":
			made, err := deployed(o)
			if err != nil {
				return nil, err
			}
			cluster = append(cluster, made...)
		case strings.HasSuffix(group, ".istio.io"):
			istio = append(istio, string(text))
			if slices.Contains([]string{"AuthorizationPolicy", "PeerAuthentication", "ServiceEntry"}, o.kind()) { // ambient mode reads them from the cluster
				cluster = append(cluster, string(text))
			}
		case o.kind() == "Service":
			text, err := completed(o)
			if err != nil {
				return nil, err
			}
			cluster = append(cluster, text)
		case o.kind() == "Namespace", o.kind() == "GatewayClass":
			cluster = append(cluster, string(text))
		}
	}
	for _, p := range pods {
		text, err := p.running()
		if err != nil {
			return nil, err
		}
		cluster = append(cluster, text)
	}
	for _, s := range append(slices.Clone(objects), waypointServices(objects)...) {
		if s.kind() != "Service" {
			continue
		}
		text, err := slice(s, behind(s, pods))
		if err != nil {
			return nil, err
		}
		cluster = append(cluster, text)
	}
	m, err := mesh.ApplyMeshConfigDefaults(config)
	if err != nil {
		return nil, err
	}
	configs, _, err := crd.ParseInputs(strings.Join(istio, "\n---\n"))
	if err != nil {
		return nil, err
	}
	for i := range configs {
		configs[i].Domain = "cluster.local" // as the client of the API server says it, to complete hosts by
	}
	krt.GlobalDebugHandler = new(krt.DebugHandler) // of this input alone
	w := &world{pods: pods, server: xds.NewFakeDiscoveryServer(t, xds.FakeOptions{
		MeshConfig: m, Configs: configs, KubernetesObjectString: strings.Join(cluster, "\n---\n"),
	})}
	w.server.EnsureSynced(t)
	return w, w.settled(objects)
}

// pods is where a workload says what its Pods are.
func (m manifest) pods() []string {
	switch m.kind() {
	case "Pod":
		return []string{"metadata"}
	case "Deployment":
		return []string{"spec", "template", "metadata"}
	}
	return nil
}

// deployed is a Gateway with its address, unless it says that it has none, and the Service of a waypoint.
func deployed(gateway manifest) ([]string, error) {
	if gateway.at("status") == nil {
		gateway["status"] = map[string]any{"addresses": []any{map[string]any{"type": "Hostname", "value": hostname(gateway.name(), gateway.namespace())}}}
	}
	var out []string
	for _, o := range append([]manifest{gateway}, waypointServices([]manifest{gateway})...) {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// waypointServices are the Services of waypoints.
func waypointServices(objects []manifest) []manifest {
	var out []manifest
	for _, o := range objects {
		if o.kind() == "Gateway" && o.text("spec", "gatewayClassName") == waypointClass {
			marks := map[string]any{"gateway.istio.io/managed": "istio.io-mesh-controller"}
			out = append(out, manifest{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": o.name(), "namespace": o.namespace(), "labels": marks},
				"spec": map[string]any{"clusterIP": "None", "selector": map[string]any{gatewayName: o.name()}, "ports": []any{map[string]any{"name": "mesh", "port": 15008.0}}}})
		}
	}
	return out
}

func hostname(name, namespace string) string { return name + "." + namespace + ".svc.cluster.local" }

// settled waits until the control plane has read everything: it works on the objects side by side, and is done when it has all Services, an
// extension for each WasmPlugin and a status for each policy with references, and changes its mind no more.
func (w *world) settled(objects []manifest) error {
	services, plugins, policies := 0, 0, 0
	for _, o := range objects {
		switch o.kind() {
		case "Service", "ServiceEntry":
			services++
		case "Gateway":
			if o.text("spec", "gatewayClassName") == waypointClass {
				services++
			}
		case "WasmPlugin":
			plugins++
		case "AuthorizationPolicy":
			if o.at("spec", "targetRef") != nil || o.at("spec", "targetRefs") != nil {
				policies++
			}
		}
	}
	last, same := "", 0
	for range 2000 {
		time.Sleep(2 * time.Millisecond)
		conditions, err := statuses()
		if err != nil {
			return err
		}
		translations := 0
		for _, c := range w.server.Store().List(gvk.TrafficExtension, "") {
			if strings.Contains(c.Name, translated) {
				translations++
			}
		}
		if len(w.server.Env().Services()) < services || translations != plugins || len(conditions) != policies || !w.hasAll(objects) {
			continue
		}
		now, err := w.binding(objects, conditions)
		if err != nil {
			return err
		}
		if same++; now != last {
			last, same = now, 0
		}
		if same == 3 {
			w.conditions = conditions
			w.push = model.NewPushContext()
			w.server.Env().SetPushContext(w.push)
			w.push.InitContext(w.server.Env(), nil, nil)
			return nil
		}
	}
	return fmt.Errorf("the control plane does not settle: it has %d Services", len(w.server.Env().Services()))
}

// binding says what is bound to waypoints.
func (w *world) binding(objects []manifest, conditions map[string]condition) (string, error) {
	served := map[string]any{}
	for _, o := range objects {
		if o.kind() == "Gateway" {
			served[ref(o)] = w.served(o)
		}
	}
	text, err := json.Marshal([]any{served, conditions, w.workloads()})
	return string(text), err
}

// served is what a waypoint serves.
func (w *world) served(gateway manifest) []model.ServiceInfo {
	return w.server.Env().ServicesForWaypoint(model.WaypointKey{Namespace: gateway.namespace(), Hostnames: []string{hostname(gateway.name(), gateway.namespace())}})
}

// translated is what the name of a TrafficExtension has that stands for a WasmPlugin.
const translated = "~istio-translated-wasmplugin"

// gatewayName is the label of a Gateway's Pods.
const gatewayName = "gateway.networking.k8s.io/gateway-name"

// target is what policies are in force at, as the control plane sees it.
type target struct {
	key      string // of its facts
	proxy    *model.Proxy
	service  *model.Service // behind the waypoint
	tunneled bool           // it has no proxy of its own, and ztunnel takes its traffic
}

// targets lists workloads, Gateways and what waypoints serve. The Pods of a Gateway stand for the Gateway. Workloads outside of the mesh are left
// out.
func (w *world) targets(objects []manifest) []target {
	var out []target
	ofGateways := map[string]map[string]string{}
	for _, o := range objects {
		if name := o.texts("metadata", "labels")[gatewayName]; o.kind() == "Pod" && name != "" {
			ofGateways[o.namespace()+"/"+name] = o.texts("metadata", "labels")
		}
	}
	for _, o := range objects {
		if at := o.pods(); at != nil {
			marks := o.texts(append(at, "labels")...)
			if marks[gatewayName] == "" {
				p := w.pod(o.namespace(), o.name())
				if p.member == outside {
					continue
				}
				proxy := w.proxy(model.SidecarProxy, o, marks, o.texts(append(at, "annotations")...))
				out = append(out, target{key: ref(o), proxy: proxy, tunneled: p.member == ztunnel})
			}
		} else if o.kind() == "Gateway" && o.text("spec", "gatewayClassName") != foreignClass {
			out = append(out, w.gateway(o, ofGateways[o.namespace()+"/"+o.name()])...)
		}
	}
	return out
}

// gateway lists a Gateway and, of a waypoint, what it serves.
func (w *world) gateway(o manifest, marks map[string]string) []target {
	if marks == nil {
		marks = map[string]string{gatewayName: o.name()}
	}
	if o.text("spec", "gatewayClassName") != waypointClass {
		return []target{{key: ref(o), proxy: w.proxy(model.Router, o, marks, nil)}}
	}
	proxy := w.proxy(model.Waypoint, o, marks, nil)
	out := []target{{key: ref(o), proxy: proxy}}
	for _, served := range w.served(o) {
		for _, s := range w.server.Env().Services() {
			if string(s.Hostname) == served.Service.Hostname && s.Attributes.Namespace == served.Service.Namespace {
				out = append(out, target{key: fmt.Sprintf("%s %s/%s via %s/%s", served.Source.Kind, served.Source.Namespace, served.Source.Name, o.namespace(), o.name()), proxy: proxy, service: s})
			}
		}
	}
	return out
}

// name is the name of the workload.
func (t target) name() string { return strings.TrimSuffix(t.proxy.ID, "."+t.proxy.ConfigNamespace) }

func ref(o manifest) string { return o.kind() + " " + o.namespace() + "/" + o.name() }

func (w *world) proxy(kind model.NodeType, o manifest, marks, notes map[string]string) *model.Proxy {
	return w.server.SetupProxy(&model.Proxy{Type: kind, ID: o.name() + "." + o.namespace(), ConfigNamespace: o.namespace(), Labels: labels.Instance(marks),
		Metadata: &model.NodeMetadata{Namespace: o.namespace(), Labels: marks, Annotations: notes, IstioVersion: "1.32.0"}})
}
