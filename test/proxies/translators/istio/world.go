package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	metadatafake "k8s.io/client-go/metadata/fake"
	k8stesting "k8s.io/client-go/testing"
	"sigs.k8s.io/gateway-api/pkg/consts"

	"k8s.io/apimachinery/pkg/api/meta"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/test/xds"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/schema/gvr"
	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/kclient/clienttest"
	"istio.io/istio/pkg/test"
)

// manifest is an object of the input.
type manifest map[string]any

func (m manifest) at(path ...string) any {
	var v any = map[string]any(m)
	for _, key := range path {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	return v
}

func (m manifest) text(path ...string) string {
	text, _ := m.at(path...).(string)
	return text
}

func (m manifest) kind() string      { return m.text("kind") }
func (m manifest) name() string      { return m.text("metadata", "name") }
func (m manifest) namespace() string { return m.text("metadata", "namespace") }

// controllerName is the controller of Istio's Gateways.
const controllerName = "istio.io/gateway-controller"

// gateway is a Gateway with the proxy that Istio's controller would deploy for it.
type gateway struct {
	namespace, name, class string
	address                string // of its Pod
	ports                  []int  // of its listeners, and of those that ListenerSets add
}

// gateways lists the Gateways of Istio's classes.
func gateways(objects []manifest) ([]gateway, error) {
	var out []gateway
	for _, o := range objects {
		class := o.text("spec", "gatewayClassName")
		if o.kind() != "Gateway" || !slices.ContainsFunc(objects, func(c manifest) bool {
			return c.kind() == "GatewayClass" && c.name() == class && c.text("spec", "controllerName") == controllerName
		}) {
			continue
		}
		g := gateway{namespace: o.namespace(), name: o.name(), class: class, address: fmt.Sprintf("10.9.0.%d", len(out)+1)}
		for _, l := range objects {
			if l.kind() == "Gateway" && l.name() == g.name && l.namespace() == g.namespace || l.kind() == "ListenerSet" && attached(l, g) {
				g.ports = append(g.ports, ports(l)...)
			}
		}
		slices.Sort(g.ports)
		g.ports = slices.Compact(g.ports)
		out = append(out, g)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no Gateway of a class with controllerName %s", controllerName)
	}
	return out, nil
}

// attached reports whether a ListenerSet is one of the Gateway.
func attached(set manifest, g gateway) bool {
	namespace := set.text("spec", "parentRef", "namespace")
	return set.text("spec", "parentRef", "name") == g.name && (namespace == g.namespace || namespace == "" && set.namespace() == g.namespace)
}

// ports are those of listeners.
func ports(o manifest) []int {
	var out []int
	listeners, _ := o.at("spec", "listeners").([]any)
	for _, l := range listeners {
		fields, _ := l.(map[string]any)
		if port, ok := fields["port"].(float64); ok {
			out = append(out, int(port))
		}
	}
	return out
}

// service is the name of the Gateway's Service and Pod.
func (g gateway) service() string { return g.name + "-" + g.class }

// labels are those of the Gateway's Pod.
func (g gateway) labels() map[string]string {
	return map[string]string{"gateway.networking.k8s.io/gateway-name": g.name}
}

// deployed is what the controller deploys for the Gateway: a Service, a Pod, and the EndpointSlice that follows from both.
func (g gateway) deployed() []manifest {
	var servicePorts, slicePorts []any
	for _, port := range g.ports {
		name := fmt.Sprintf("port-%d", port)
		servicePorts = append(servicePorts, map[string]any{"name": name, "port": port, "targetPort": port, "protocol": "TCP"})
		slicePorts = append(slicePorts, map[string]any{"name": name, "port": port, "protocol": "TCP"})
	}
	metadata := func(marks map[string]string) map[string]any {
		return map[string]any{"name": g.service(), "namespace": g.namespace, "labels": marks}
	}
	return []manifest{
		{
			"apiVersion": "v1", "kind": "Pod", "metadata": metadata(g.labels()),
			"spec":   map[string]any{"nodeName": "node", "serviceAccountName": g.service(), "containers": []any{map[string]any{"name": "istio-proxy", "image": "proxy"}}},
			"status": map[string]any{"phase": "Running", "podIP": g.address, "podIPs": []any{map[string]any{"ip": g.address}}, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		},
		{
			"apiVersion": "v1", "kind": "Service", "metadata": metadata(g.labels()),
			"spec": map[string]any{"clusterIP": strings.Replace(g.address, "10.9", "10.95", 1), "selector": g.labels(), "ports": servicePorts},
		},
		{
			"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata(map[string]string{"kubernetes.io/service-name": g.service()}), "addressType": "IPv4",
			"endpoints": []any{map[string]any{
				"addresses": []any{g.address}, "conditions": map[string]any{"ready": true},
				"targetRef": map[string]any{"kind": "Pod", "name": g.service(), "namespace": g.namespace},
			}},
			"ports": slicePorts,
		},
	}
}

// start starts a control plane over the objects.
func start(t test.Failer, objects []manifest, gateways []gateway) (*xds.FakeDiscoveryServer, error) {
	config := ""
	var cluster, istio []string
	for _, g := range gateways {
		objects = append(slices.Clip(objects), g.deployed()...)
	}
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		group, _, _ := strings.Cut(o.text("apiVersion"), "/")
		switch {
		case o.kind() == "ConfigMap" && o.name() == "istio":
			config = o.text("data", "mesh")
		case strings.HasSuffix(group, ".istio.io"):
			istio = append(istio, string(text))
		default:
			cluster = append(cluster, string(text))
		}
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
	server := xds.NewFakeDiscoveryServer(t, xds.FakeOptions{
		MeshConfig: m, Configs: configs, KubernetesObjectString: strings.Join(cluster, "\n---\n"),
		KubeClientModifier: func(c kube.Client) { defined(t, c) }, DisableSecretAuthorization: true,
	})
	return server, nil
}

// defined has the control plane find the definitions of the Gateway API, with the annotation without which it leaves some of them alone.
func defined(t test.Failer, c kube.Client) {
	for _, verb := range []string{"create", "update"} {
		c.Metadata().(*metadatafake.FakeMetadataClient).PrependReactor(verb, gvr.CustomResourceDefinition.Resource, func(action k8stesting.Action) (bool, runtime.Object, error) {
			made, err := meta.Accessor(action.(k8stesting.CreateAction).GetObject())
			if err == nil {
				made.SetAnnotations(map[string]string{consts.BundleVersionAnnotation: consts.BundleVersion})
			}
			return false, nil, err
		})
	}
	clienttest.MakeCRD(t, c, gvr.ListenerSet)
	clienttest.MakeCRD(t, c, gvr.BackendTLSPolicy)
}
