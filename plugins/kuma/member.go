package kuma

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// Labels, annotations and containers of Pods that are read.
const (
	injectionLabel    = "kuma.io/sidecar-injection"
	gatewayAnnotation = "kuma.io/gateway"
	sidecarContainer  = "kuma-sidecar"
	accountLabel      = "k8s.kuma.io/service-account"
	workloadLabel     = "kuma.io/workload"
)

// reservedPort is the port of the only inbound of Pods without a Service.
const reservedPort = 49151

// member is what Pods at an end of a hop are to the mesh.
type member struct {
	name           string // for people
	meshed         selector.Truth
	why            string     // it is not known whether they are in a mesh
	proxy          *dataplane // nil: they are no Pods, or nothing is known of them
	accountUnknown bool
	labelsUnknown  bool
}

// findMember tells whether the Pods at an end are in a mesh: by the label of the Pod, else of its
// Namespace (pkg/plugins/runtime/k8s/webhooks/injector/precheck.go).
func (j *hopJudge) findMember(e *point.End) *member {
	if e.Object == nil {
		out := &member{name: e.String()}
		if e.PodsUnknown {
			out.meshed, out.why = selector.Maybe, "its Pods are not in the input"
		}
		return out
	}
	if known := j.members[e.Object]; known != nil {
		return known
	}
	labels, notes := workload.PodMetadata(e.Object)
	out := &member{name: e.String(), accountUnknown: e.AccountUnknown, labelsUnknown: e.LabelsUnknown}
	stored := j.in.Get(model.Ref{Group: group, Kind: "Dataplane", Namespace: e.Object.Ref.Namespace, Name: e.Object.Ref.Name})
	namespace := model.Ref{Kind: "Namespace", Name: e.Object.Ref.Namespace}
	word, own := labels[injectionLabel]
	if ns := j.in.Get(namespace); !own && ns != nil {
		word, own = ns.Labels[injectionLabel]
	}
	switch {
	case stored != nil && e.Object.Ref.Kind == "Pod", hasSidecar(e.Object):
		out.meshed = selector.Yes
	case slices.Contains([]string{"enabled", "true", "yes"}, word):
		out.meshed = selector.Yes
	case own, j.in.Get(namespace) != nil:
	default:
		out.meshed, out.why = selector.Maybe, "it has no label "+injectionLabel+", and "+namespace.String()+
			" is not in the input"
	}
	if stored != nil && e.Object.Ref.Kind == "Pod" {
		d := readDataplane(stored, j.in, j.settings)
		out.proxy = &d
	} else {
		d := j.assumeDataplane(e, labels, notes)
		out.proxy = &d
	}
	j.members[e.Object] = out
	return out
}

// hasSidecar reports whether Pods have the proxy already.
func hasSidecar(o *model.Object) bool {
	spec := workload.PodSpec(o)
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Field(list).Items {
			if c.Text("name") == sidecarContainer {
				return true
			}
		}
	}
	return false
}

// assumeDataplane is the Dataplane that the control plane makes of a Pod: with its labels, and an
// inbound for each port of a Service that selects it. A delegated gateway has none
// (pkg/plugins/runtime/k8s/controllers/pod_converter.go:150, inbound_converter.go).
func (j *hopJudge) assumeDataplane(e *point.End, podLabels, notes map[string]string) dataplane {
	ref := e.Object.Ref
	labels := map[string]string{}
	for key, value := range podLabels {
		labels[key] = value
	}
	if account := e.ServiceAccount(); account != "" {
		labels[accountLabel], labels[workloadLabel] = account, account
	}
	networking := map[string]any{}
	if _, gateway := notes[gatewayAnnotation]; gateway {
		networking["gateway"] = map[string]any{"type": "DELEGATED"}
	} else {
		networking["inbound"] = j.listInbounds(e.Object, podLabels)
	}
	o := &model.Object{Ref: model.Ref{Group: group, Kind: "Dataplane", Namespace: ref.Namespace, Name: ref.Name},
		Labels: labels, Body: model.Pack(map[string]any{"spec": map[string]any{"networking": networking}}, nil)}
	if labels[meshLabel] == "" {
		labels[meshLabel] = findMesh(o, j.in)
	}
	return readDataplane(o, j.in, j.settings.With("kuma.labels", "compute"))
}

// listInbounds lists the inbounds of Pods, each port once. In 2.14 they are called as the ports of
// Services are, and have tags.
func (j *hopJudge) listInbounds(o *model.Object, labels map[string]string) []any {
	declared := workload.ReadPod(o).Ports
	var out []any
	seen := map[int]bool{}
	for _, service := range j.services[o.Ref.Namespace] {
		by := service.Body.At("spec", "selector")
		if by.Len() == 0 || !hasLabels(labels, by) || service.Text("spec", "type") == "ExternalName" {
			continue
		}
		for _, p := range service.Body.At("spec", "ports").Items {
			number, name := findContainerPort(p, declared)
			if protocol := p.Text("protocol"); number == 0 || seen[number] || protocol != "" && protocol != "TCP" {
				continue
			}
			seen[number] = true
			inbound := map[string]any{"port": int64(number)}
			if j.dialect214 {
				name = p.Text("name")
				tags := map[string]any{"kuma.io/service": service.Ref.Name + "_" + service.Ref.Namespace + "_svc_" +
					numberText(p.Field("port")), namespaceLabel: o.Ref.Namespace}
				for key, value := range labels {
					tags[key] = value
				}
				inbound["tags"] = tags
			}
			if name != "" {
				inbound["name"] = name
			}
			out = append(out, inbound)
		}
	}
	if out == nil {
		out = append(out, map[string]any{"port": int64(reservedPort)})
	}
	return out
}

// findContainerPort is the port of Pods that a port of a Service leads to, and what it is called
// there; 0: there is none.
func findContainerPort(p model.Body, declared []workload.Port) (number int, name string) {
	to := p.Field("targetPort")
	if to.IsNull() {
		to = p.Field("port")
	}
	text := numberText(to)
	for _, d := range declared {
		if d.Protocol != "" && !strings.EqualFold(d.Protocol, "TCP") {
			continue
		}
		if to.IsText() && d.Name == text || !to.IsText() && strconv.Itoa(d.Number) == text {
			return d.Number, d.Name
		}
	}
	if to.IsText() {
		return 0, ""
	}
	number, _ = strconv.Atoi(text)
	return number, ""
}

// findInbound is the inbound of a port, or noInbound.
func (d *dataplane) findInbound(port int) int {
	return slices.IndexFunc(d.sections, func(s section) bool { return s.inbound && s.port == strconv.Itoa(port) })
}
