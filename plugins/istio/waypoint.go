package istio

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Labels, annotations and protocols of waypoints.
const (
	useWaypoint      = "istio.io/use-waypoint"
	useWaypointSpace = "istio.io/use-waypoint-namespace"
	useCanary        = "istio.io/use-waypoint-canary"
	waypointFor      = "istio.io/waypoint-for"
	inboundBinding   = "ambient.istio.io/waypoint-inbound-binding"
	managedEastWest  = "istio.io-eastwest-controller"
)

// waypointBinding is the waypoint of a Service or ServiceEntry, as it is named by its own labels or
// by those of its namespace.
type waypointBinding struct {
	gateway *model.Object // nil: none
	denied  bool          // the waypoint takes nothing of that namespace
	canary  bool          // another waypoint gets a part of what is sent
	unknown string        // what is not in the input and may say otherwise
}

// findWaypoint finds the waypoint of a Service or ServiceEntry. What names one that is not there
// has none, whatever its namespace says.
func findWaypoint(in *model.Snapshot, o *model.Object) waypointBinding {
	if managed := o.Labels[managedLabel]; managed == managedByMesh || managed == managedEastWest {
		return waypointBinding{} // a waypoint's own Service
	}
	ref, doubt := findWaypointName(in, o, o.Labels)
	if doubt != "" {
		return waypointBinding{unknown: "namespace/" + o.Ref.Namespace + ", which may name one, is not in the input"}
	}
	gateway := in.Get(ref)
	if gateway == nil || hasNoAddress(gateway) || !servesServices(in, gateway) {
		return waypointBinding{}
	}
	canary := o.Labels[useCanary]
	out := waypointBinding{gateway: gateway, canary: canary != "" && canary != "none"}
	out.denied, out.unknown = excludesNamespace(in, gateway, o.Ref.Namespace)
	return out
}

// servesServices reports whether a waypoint takes what is sent to Services.
func servesServices(in *model.Snapshot, gateway *model.Object) bool {
	of := readWaypointFor(in, gateway)
	return of == "service" || of == "all"
}

// excludesNamespace reports whether a waypoint takes nothing of a namespace: its listener for the
// mesh says which it takes, and by default it takes its own only.
func excludesNamespace(in *model.Snapshot, gateway *model.Object, namespace string) (denied bool, unknown string) {
	_, bound := gateway.Annotations[inboundBinding]
	from := model.Body{}
	for _, l := range gateway.Body.At("spec", "listeners").Items {
		if l.Text("protocol") == "HBONE" && l.Field("port").String() == "15008" {
			from = l.At("allowedRoutes", "namespaces")
			break
		}
	}
	switch {
	case namespace == gateway.Ref.Namespace && from.Text("from") != "Selector" || from.Text("from") == "All":
		return false, ""
	case bound:
		return false, fmt.Sprintf("%s has listeners of its own for the mesh, by the annotation %s", gateway.Ref,
			inboundBinding)
	case from.Text("from") != "Selector":
		return true, ""
	}
	o := in.Get(model.Ref{Kind: "Namespace", Name: namespace})
	if o == nil {
		return false, "namespace/" + namespace + ", whose labels decide it, is not in the input"
	}
	labels := map[string]string{"kubernetes.io/metadata.name": namespace}
	maps.Copy(labels, o.Labels)
	return !matchesSelector(from.Field("selector"), labels), ""
}

// matchesSelector reports whether a label selector fits.
func matchesSelector(selector model.Body, labels map[string]string) bool {
	for key, value := range selector.Field("matchLabels").Fields {
		if have, ok := labels[key]; !ok || have != value.Text() {
			return false
		}
	}
	for _, e := range selector.Field("matchExpressions").Items {
		have, ok := labels[e.Text("key")]
		listed := false
		for _, v := range e.Field("values").Items {
			listed = listed || v.Text() == have
		}
		switch e.Text("operator") {
		case "In":
			ok = ok && listed
		case "NotIn":
			ok = !ok || !listed
		case "DoesNotExist":
			ok = !ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// waypointProblems says of which Services it is not known whether a waypoint serves them, or which.
func (w *proxyIndex) waypointProblems() []model.Problem {
	var out []model.Problem
	note := func(o *model.Object, hint, format string, args ...any) {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(format,
			args...), Hint: hint}.At(o))
	}
	if w.hasMoreConfigs {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "the input has the configurations of several control planes of Istio: which workload has which is not evaluated, and only that of the ConfigMap istio is read",
			Hint:    "ask about the objects of one control plane"})
	}
	somewhere := func(namespace string) bool {
		return slices.ContainsFunc(w.byNamespace[namespace], func(t target) bool { return t.form == waypoint })
	}
	for _, o := range w.undecidedServices {
		switch b := findWaypoint(w.in, o); {
		case b.gateway != nil && b.denied:
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotReached, Message: fmt.Sprintf(
				"%s takes nothing of namespace %s, so that %s has no waypoint", b.gateway.Ref, o.Ref.Namespace, o.Ref),
				Hint: "set allowedRoutes of its listener for the mesh"}.At(o))
		case b.gateway != nil && b.canary && b.unknown == "":
			note(o, "",
				"a part of what is sent to %s goes to another waypoint, by the label %s: what holds there is not evaluated", o.Ref, useCanary)
		case b.gateway != nil:
			note(o, "", "cannot tell whether %s takes %s: %s", b.gateway.Ref, o.Ref, b.unknown)
		case somewhere(o.Ref.Namespace):
			note(o, "add the Namespace, or the label "+useWaypoint, "cannot tell whether a waypoint serves %s: %s",
				o.Ref, b.unknown)
		}
	}
	return out
}
