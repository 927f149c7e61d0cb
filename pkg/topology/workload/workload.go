package workload

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

var podKind = model.GroupKind{Kind: "Pod"}

// podTemplates are the kinds with a pod template, and where it stands.
var podTemplates = map[model.GroupKind][]string{
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template"},
	{Kind: "ReplicationController"}:      {"spec", "template"},
}

// Kinds returns the kinds of workloads, sorted.
func Kinds() []model.GroupKind {
	out := append(slices.Collect(maps.Keys(podTemplates)), podKind)
	slices.SortFunc(out, model.GroupKind.Compare)
	return out
}

// List returns the workloads of an input: the Pods, and the objects with a template of which no pod
// is there. One that another of them made is left to that.
func List(in *model.Snapshot) []*model.Object {
	type owner struct{ namespace, name string }
	called := map[owner][]*model.Object{} // pods by the beginnings of their names
	pods := in.OfKind(podKind)
	for _, o := range pods {
		for i, c := range o.Ref.Name {
			if c == '-' {
				at := owner{o.Ref.Namespace, o.Ref.Name[:i]}
				called[at] = append(called[at], o)
			}
		}
	}
	out := slices.Clone(pods)
	for _, gk := range Kinds() {
		for _, o := range in.OfKind(gk) {
			mine := called[owner{o.Ref.Namespace, o.Ref.Name}]
			if gk != podKind && !isOwned(in, o) &&
				!slices.ContainsFunc(mine, func(pod *model.Object) bool { return hasPod(o, pod) }) {
				out = append(out, o)
			}
		}
	}
	return out
}

// isOwned reports whether an object was made by another one with a template that is in the input.
func isOwned(in *model.Snapshot, o *model.Object) bool {
	for _, by := range o.Body.At("metadata", "ownerReferences").Items {
		gk := model.NewGroupKind(by.Text("apiVersion"), by.Text("kind"))
		if podTemplates[gk] != nil && in.Get(model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Ref.Namespace,
			Name: by.Text("name")}) != nil {
			return true
		}
	}
	return false
}

// hasPod reports whether a pod that is called so is one of those made of an object's template: it
// has the template's labels, or an owner called so.
func hasPod(o, pod *model.Object) bool {
	for _, by := range pod.Body.At("metadata", "ownerReferences").Items {
		if name := by.Text("name"); name == o.Ref.Name || strings.HasPrefix(name, o.Ref.Name+"-") {
			return true
		}
	}
	labels := PodLabels(o)
	for key, value := range labels {
		if pod.Labels[key] != value {
			return false
		}
	}
	return len(labels) > 0
}

// PodLabels returns the labels of a Pod, or those that a template gives its pods.
func PodLabels(o *model.Object) map[string]string {
	at, template := podTemplates[o.Ref.GroupKind()]
	if !template {
		return o.Labels
	}
	out := map[string]string{}
	for key, value := range o.Body.At(at...).At("metadata", "labels").Fields {
		if value.IsText() {
			out[key] = value.Text()
		}
	}
	return out
}

// podSpec returns the spec of a Pod, or of the pods of a template.
func podSpec(o *model.Object) (spec model.Body, template bool) {
	at, template := podTemplates[o.Ref.GroupKind()]
	return o.Body.At(at...).Field("spec"), template
}

// IsOnHostNetwork reports whether pods are in the network of their node.
func IsOnHostNetwork(o *model.Object) bool {
	spec, _ := podSpec(o)
	host, _ := spec.Field("hostNetwork").Value().(bool)
	return host
}

// Pod is what a workload's pods are to their network.
type Pod struct {
	Ref         model.Ref // of the workload
	Labels      map[string]string
	Template    bool // it stands for the pods of a template
	HostNetwork bool
	// Partial says that it may have other labels than these: it is not in the input.
	Partial   bool
	Addresses []string // none where no status is in the input
	Node      string
	Ports     []Port
}

// Port is a port that a container declares.
type Port struct {
	Name, Protocol string
	Number         int
}

// ReadPod reads a Pod, or what a template says of its pods.
func ReadPod(o *model.Object) Pod {
	spec, template := podSpec(o)
	out := Pod{Ref: o.Ref, Labels: PodLabels(o), Template: template, HostNetwork: IsOnHostNetwork(o),
		Node: spec.Text("nodeName")}
	if !template {
		out.Addresses = addressesOf(o.Body.Field("status"))
	}
	for _, list := range []string{"initContainers", "containers"} { // init containers that keep running are sidecars
		for _, c := range spec.Field(list).Items {
			if list == "initContainers" && c.Text("restartPolicy") != "Always" {
				continue
			}
			for _, p := range c.Field("ports").Items {
				number, _ := p.Field("containerPort").Value().(int64)
				protocol := p.Text("protocol")
				if protocol == "" {
					protocol = "TCP"
				}
				out.Ports = append(out.Ports, Port{p.Text("name"), protocol, int(number)})
			}
		}
	}
	return out
}

// addressesOf returns the addresses in the status of a Pod.
func addressesOf(status model.Body) []string {
	var out []string
	add := func(ip string) {
		if ip != "" && !slices.Contains(out, ip) {
			out = append(out, ip)
		}
	}
	add(status.Text("podIP"))
	for _, ip := range status.Field("podIPs").Items {
		add(ip.Text("ip"))
	}
	return out
}
