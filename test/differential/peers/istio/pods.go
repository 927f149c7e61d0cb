package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gateway "sigs.k8s.io/gateway-api/apis/v1"

	"istio.io/istio/cni/pkg/util"
	"istio.io/istio/pilot/pkg/config/kube/gatewaycommon"
	"istio.io/istio/pkg/workloadapi"
)

// member is how a Pod is in the mesh.
type member int

const (
	outside member = iota
	sidecar
	ztunnel
)

// pod is a Pod as it runs.
type pod struct {
	namespace, name, account, address string
	labels                            map[string]string
	member                            member
}

// enrolled are the selectors of the Pods that ztunnel takes, as Istio is installed (manifests/charts/istio-cni/values.yaml).
var enrolled = func() *util.CompiledEnablementSelectors {
	const mode = "istio.io/dataplane-mode"
	out, err := util.NewCompiledEnablementSelectors([]util.EnablementSelector{
		{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{mode: "ambient"}}},
		{PodSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: mode, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"none"}}}},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: map[string]string{mode: "ambient"}}},
	})
	if err != nil {
		panic(err)
	}
	return out
}()

// findPods lists the Pods of workloads, and one of each Gateway of Istio that has none in the input and says nothing of having no address.
func findPods(objects []manifest) ([]pod, error) {
	spaces := map[string]map[string]string{}
	for _, o := range objects {
		if o.kind() == "Namespace" {
			spaces[o.name()] = o.texts("metadata", "labels")
		}
	}
	var out []pod
	has := map[string]bool{}
	for _, o := range objects {
		at := o.pods()
		if at == nil {
			continue
		}
		marks := o.texts(append(at, "labels")...)
		p := pod{namespace: o.namespace(), name: o.name(), labels: marks, account: "default", address: o.text("status", "podIP")}
		for _, account := range []string{o.text("spec", "serviceAccountName"), o.text("spec", "template", "spec", "serviceAccountName")} {
			if account != "" {
				p.account = account
			}
		}
		p.enroll(spaces[p.namespace])
		has[p.namespace+"/"+marks[gatewayName]] = true
		out = append(out, p)
	}
	for _, o := range objects {
		if o.kind() != "Gateway" || o.text("spec", "gatewayClassName") == foreignClass || has[o.namespace()+"/"+o.name()] || o.at("status") != nil {
			continue
		}
		p, err := proxyPod(o)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	for i := range out {
		if out[i].address == "" {
			out[i].address = fmt.Sprintf("10.9.0.%d", i+1)
		}
	}
	return out, nil
}

// enroll finds out how the Pod is in the mesh.
func (p *pod) enroll(space map[string]string) {
	switch {
	case p.labels[gatewayName] != "":
	case space["istio-injection"] == "enabled" && p.labels["sidecar.istio.io/inject"] != "false":
		p.member = sidecar
	case enrolled.Matches(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: p.labels}}, space):
		p.member = ztunnel
	}
}

// proxyPod is the Pod of a Gateway as it would be deployed (pilot/pkg/config/kube/gatewaycommon/deploymentcontroller.go).
func proxyPod(o manifest) (pod, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return pod{}, err
	}
	var gw gateway.Gateway
	if err := json.Unmarshal(text, &gw); err != nil {
		return pod{}, err
	}
	account := gw.Annotations["gateway.istio.io/service-account"]
	if account == "" {
		account = gatewaycommon.GetDefaultName(gw.Name, &gw.Spec, string(gw.Spec.GatewayClassName) == waypointClass)
	}
	return pod{namespace: gw.Namespace, name: gw.Name + "-0", account: account, labels: map[string]string{gatewayName: gw.Name, "istio.io/dataplane-mode": "none"}}, nil
}

// running is the Pod as the control plane reads it, with what injection and the node's agent note in it.
func (p *pod) running() (string, error) {
	notes, marks := map[string]any{}, map[string]any{}
	for key, value := range p.labels {
		marks[key] = value
	}
	switch p.member {
	case sidecar:
		notes["sidecar.istio.io/status"] = "{}"
		marks["security.istio.io/tlsMode"] = "istio"
	case ztunnel:
		notes["ambient.istio.io/redirection"] = "enabled"
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": p.name, "namespace": p.namespace, "labels": marks, "annotations": notes},
		"spec":     map[string]any{"nodeName": "node", "serviceAccountName": p.account, "containers": []any{map[string]any{"name": "main", "image": "app"}}},
		"status": map[string]any{"phase": "Running", "podIP": p.address, "podIPs": []any{map[string]any{"ip": p.address}},
			"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
	return string(text), err
}

// pod is a Pod by its name.
func (w *world) pod(namespace, name string) pod {
	for _, p := range w.pods {
		if p.namespace == namespace && p.name == name {
			return p
		}
	}
	return pod{}
}

// behind lists the Pods that a Service selects.
func behind(service manifest, pods []pod) []pod {
	var out []pod
	want := service.texts("spec", "selector")
	for _, p := range pods {
		all := len(want) > 0 && p.namespace == service.namespace()
		for key, value := range want {
			all = all && p.labels[key] == value
		}
		if all {
			out = append(out, p)
		}
	}
	return out
}

// completed is a Service with the target ports that the API server fills in.
func completed(service manifest) (string, error) {
	list, _ := service.at("spec", "ports").([]any)
	for _, entry := range list {
		if port := entry.(map[string]any); port["targetPort"] == nil {
			port["targetPort"] = port["port"]
		}
	}
	text, err := json.Marshal(service)
	return string(text), err
}

// slice is the EndpointSlice of a Service.
func slice(service manifest, pods []pod) (string, error) {
	var ports, endpoints []any
	list, _ := service.at("spec", "ports").([]any)
	for _, entry := range list {
		fields := manifest(entry.(map[string]any))
		number := fields.at("targetPort")
		if number == nil { // that of a waypoint
			number = fields.at("port")
		}
		ports = append(ports, map[string]any{"name": fields.at("name"), "port": number, "protocol": "TCP"})
	}
	for _, p := range pods {
		endpoints = append(endpoints, map[string]any{"addresses": []any{p.address}, "conditions": map[string]any{"ready": true},
			"targetRef": map[string]any{"kind": "Pod", "name": p.name, "namespace": p.namespace}})
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "ports": ports, "endpoints": endpoints,
		"metadata": map[string]any{"name": service.name() + "-1", "namespace": service.namespace(), "labels": map[string]any{"kubernetes.io/service-name": service.name()}}})
	return string(text), err
}

// hasAll reports whether the control plane has all Pods, and the endpoints of all Services.
func (w *world) hasAll(objects []manifest) bool {
	if len(w.workloads()) < len(w.pods) {
		return false
	}
	for _, o := range append(append([]manifest{}, objects...), waypointServices(objects)...) {
		if o.kind() != "Service" {
			continue
		}
		n := 0
		if shards, ok := w.server.Env().EndpointIndex.ShardsForService(hostname(o.name(), o.namespace()), o.namespace()); ok {
			shards.RLock()
			for _, list := range shards.Shards {
				n += len(list)
			}
			shards.RUnlock()
		}
		if ports, _ := o.at("spec", "ports").([]any); n < len(behind(o, w.pods))*len(ports) {
			return false
		}
	}
	return true
}

// workloads are the Pods as ztunnel has them, by name.
func (w *world) workloads() map[string]*workloadapi.Workload {
	out := map[string]*workloadapi.Workload{}
	addresses, _ := w.server.Env().AddressInformation(nil)
	for _, a := range addresses {
		if p := a.GetWorkload(); p != nil {
			out[p.Namespace+"/"+p.Name] = p
		}
	}
	return out
}
