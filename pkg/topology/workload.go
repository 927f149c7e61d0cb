package topology

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Namespaced is the family of what runs in namespaces: namespace > workload.
const Namespaced = "namespaced"

// Workload is the role of a Pod, or of an object with a pod template that stands for its pods: none of them is in the input.
const Workload Role = "workload"

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

// WorkloadKinds returns the kinds of workloads, sorted.
func WorkloadKinds() []model.GroupKind {
	out := append(slices.Collect(maps.Keys(podTemplates)), podKind)
	slices.SortFunc(out, model.GroupKind.Compare)
	return out
}

// AddWorkloads has the family Namespaced made if the input has objects of one of the kinds.
func (b *Builder) AddWorkloads(kinds ...model.GroupKind) {
	b.AddExtension(func(l *Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
		if slices.ContainsFunc(kinds, func(gk model.GroupKind) bool { return len(in.OfKind(gk)) > 0 }) {
			l.Workloads()
		}
		return nil
	})
}

// Workloads makes the family Namespaced, and lists the workloads in the order of their references. Asking again changes nothing.
func (l *Extender) Workloads() []NodeID {
	if _, declared := l.families[Namespaced]; !declared {
		l.DeclareFamily(Namespaced, Namespace, Workload)
		for _, o := range WorkloadsOf(l.draft.in) {
			id := l.AddObject(Workload, o)
			l.Connect(Namespaced, l.draft.namespaceNode(o.Ref.Namespace), id)
			l.workloads = append(l.workloads, id)
		}
	}
	return slices.Clone(l.workloads)
}

// WorkloadsOf lists the workloads of an input: the Pods, and the objects with a template of which no pod is there. One that another of them made
// is left to that.
func WorkloadsOf(in *model.Snapshot) []*model.Object {
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
	for _, gk := range WorkloadKinds() {
		for _, o := range in.OfKind(gk) {
			mine := called[owner{o.Ref.Namespace, o.Ref.Name}]
			if gk != podKind && !isOwned(in, o) && !slices.ContainsFunc(mine, func(pod *model.Object) bool { return hasPod(o, pod) }) {
				out = append(out, o)
			}
		}
	}
	return out
}

// isOwned reports whether an object was made by another one with a template that is in the input.
func isOwned(in *model.Snapshot, o *model.Object) bool {
	for _, by := range o.Body.At("metadata", "ownerReferences").Items {
		group, _, versioned := strings.Cut(by.Text("apiVersion"), "/")
		if !versioned {
			group = ""
		}
		gk := model.GroupKind{Group: group, Kind: by.Text("kind")}
		if podTemplates[gk] != nil && in.Get(model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Ref.Namespace, Name: by.Text("name")}) != nil {
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
	labels := podLabels(o)
	for key, value := range labels {
		if pod.Labels[key] != value {
			return false
		}
	}
	return len(labels) > 0
}

// podLabels returns the labels of a Pod, or those that a template gives its pods.
func podLabels(o *model.Object) map[string]string {
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

// isOnHostNetwork reports whether pods are in the network of their node.
func isOnHostNetwork(o *model.Object) bool {
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
	Addresses   []string // none where no status is in the input
	Node        string
	Ports       []PodPort
}

// PodPort is a port that a container declares.
type PodPort struct {
	Name, Protocol string
	Number         int
}

// Pod reads a workload.
func (g *Graph) Pod(id NodeID) Pod { return readPod(g.nodes.list[id].Object) }

// readPod reads a Pod, or what a template says of its pods.
func readPod(o *model.Object) Pod {
	spec, template := podSpec(o)
	out := Pod{Ref: o.Ref, Labels: podLabels(o), Template: template, HostNetwork: isOnHostNetwork(o), Node: spec.Text("nodeName")}
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
				out.Ports = append(out.Ports, PodPort{p.Text("name"), protocol, int(number)})
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

// PodSelector selects workloads by their namespace and their labels. Those in the network of their node are never selected.
type PodSelector struct {
	In         string        // the one namespace that counts; "": those that Namespaces selects
	Namespaces LabelSelector // of namespaces
	Pods       LabelSelector
}

// SelectsPodsIn reports whether the selector looks into a namespace.
func (f *referenceJudge) SelectsPodsIn(s PodSelector, namespace string) Truth {
	switch s.In {
	case "":
		return f.SelectsNamespace(s.Namespaces, namespace)
	case namespace:
		return Yes
	}
	return No
}

// SelectsWorkload reports whether a workload is selected.
func (g *Graph) SelectsWorkload(s PodSelector, id NodeID) Truth {
	o := g.nodes.list[id].Object
	if !s.Pods.SelectsLabels(podLabels(o)) || isOnHostNetwork(o) {
		return No
	}
	return g.SelectsPodsIn(s, o.Ref.Namespace)
}
