package point

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// workloadIndex has the workloads of an input by each label of their Pods, its key and its value.
type workloadIndex map[[2]string][]*model.Object

// indexWorkloads lists the workloads of an input, once.
func indexWorkloads(r *resolve.Resolution) workloadIndex {
	type key struct{}
	return resolve.Memoize(r, key{}, func() workloadIndex {
		out := workloadIndex{}
		for _, o := range workload.List(r.Snapshot) {
			for k, v := range workload.PodLabels(o) {
				out[[2]string{k, v}] = append(out[[2]string{k, v}], o)
			}
		}
		return out
	})
}

// FindWorkloads lists the workloads whose Pods have all of some labels, in the order of the input;
// namespace "" means any. Without labels there are none.
func FindWorkloads(r *resolve.Resolution, namespace string, labels map[string]string) []*model.Object {
	x := indexWorkloads(r)
	var fewest []*model.Object
	for i, key := range slices.Sorted(maps.Keys(labels)) {
		if found := x[[2]string{key, labels[key]}]; i == 0 || len(found) < len(fewest) {
			fewest = found
		}
	}
	var out []*model.Object
	for _, o := range fewest {
		if namespace != "" && o.Ref.Namespace != namespace {
			continue
		}
		have := workload.PodLabels(o)
		fits := true
		for key, value := range labels {
			fits = fits && have[key] == value
		}
		if fits {
			out = append(out, o)
		}
	}
	return out
}

// NewEnd returns the end of a hop that is a workload of the input.
func NewEnd(r *resolve.Resolution, o *model.Object) End {
	out := End{Object: o, Node: topology.None}
	for _, id := range r.Graph.Lookup(o.Ref) {
		if r.Node(id).Role == topology.Workload {
			out.Node = id
		}
	}
	return out
}

// destination is what a Service, or a Pod, is reached as: Pods that no policy tells apart.
type destination struct {
	End
	port  int // of the Pods; 0: it is not known
	alike int // further Pods that are alike
}

// findDestinations lists the workloads behind a Service, each kind of Pods once. Of a Service whose
// Pods are not in the input it is a Pod with the labels that the Service asks for; of one without a
// selector, and of what is no Service, there are none.
func findDestinations(r *resolve.Resolution, service *model.Object, port model.Body) []destination {
	labels := map[string]string{}
	for key, value := range service.Body.At("spec", "selector").Fields {
		labels[key] = value.Text()
	}
	if len(labels) == 0 || service.Ref.Kind != "Service" || service.Ref.Group != "" {
		return nil
	}
	found := FindWorkloads(r, service.Ref.Namespace, labels)
	if len(found) == 0 {
		pod := NewAssumedPod(service.Ref.Namespace, service.Ref.Name, "", labels)
		return []destination{{End: End{Object: pod, Node: topology.None, Stands: service.Ref, AccountUnknown: true,
			LabelsUnknown: true},
			port: targetPort(port, nil)}}
	}
	var out []destination
	seen := map[string]int{}
	for _, o := range found {
		key := describePod(o)
		if at, ok := seen[key]; ok {
			out[at].alike++
			continue
		}
		seen[key] = len(out)
		pod := workload.ReadPod(o)
		out = append(out, destination{End: NewEnd(r, o), port: targetPort(port, pod.Ports)})
	}
	return out
}

// describePod writes what policies can tell Pods of one owner apart by.
func describePod(o *model.Object) string {
	owner := o.Ref.Kind + " " + o.Ref.Name
	if o.Ref.Kind == "Pod" {
		for _, by := range o.Body.At("metadata", "ownerReferences").Items {
			owner = by.Text("kind") + " " + by.Text("name")
		}
	}
	labels, notes := workload.PodMetadata(o)
	pod := workload.ReadPod(o)
	spec := workload.PodSpec(o)
	return fmt.Sprint(owner, labels, notes, pod.HostNetwork, pod.Ports, spec.Text("serviceAccountName"))
}

// targetPort is the port of Pods that a port of a Service leads to; 0 if it is not known.
func targetPort(port model.Body, declared []workload.Port) int {
	switch to := port.Field("targetPort").Value().(type) {
	case int64:
		return int(to)
	case string:
		for _, p := range declared {
			if p.Name == to {
				return p.Number
			}
		}
		return 0
	}
	number, _ := port.Field("port").Value().(int64)
	return int(number)
}

// findPort is the port of a Service that is called so, or has that number; null if there is none.
func findPort(service *model.Object, section string, udp bool) model.Body {
	var out model.Body
	for _, p := range service.Body.At("spec", "ports").Items {
		if p.Text("name") != section && p.Field("port").String() != section {
			continue
		}
		if out.IsNull() || strings.EqualFold(p.Text("protocol"), "UDP") == udp {
			out = p
		}
	}
	return out
}
