package kuma

import (
	"maps"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const group = "kuma.io"

// The labels that the control plane writes.
const (
	displayNameLabel = "kuma.io/display-name"
	meshLabel        = "kuma.io/mesh"
	namespaceLabel   = "k8s.kuma.io/namespace"
	originLabel      = "kuma.io/origin"
	zoneLabel        = "kuma.io/zone"
	envLabel         = "kuma.io/env"
	roleLabel        = "kuma.io/policy-role"
	effectLabel      = "kuma.io/effect"
)

// The roles of policies.
const (
	systemRole        = "system"
	producerRole      = "producer"
	consumerRole      = "consumer"
	workloadOwnerRole = "workload-owner"
)

// newLabeler completes the labels of policies.
func newLabeler(in *model.Snapshot, s model.Settings) func(o *model.Object) map[string]string {
	s = withDialect(in, s)
	return func(o *model.Object) map[string]string { return computeLabels(o, in, s) }
}

// computeLabels is what the labels of an object are once the control plane has admitted it: those
// that are there, and with labels=compute, or on files where they are absent, those that it would
// write. An object of another control plane keeps its own. The settings have a dialect.
func computeLabels(o *model.Object, in *model.Snapshot, s model.Settings) map[string]string {
	out := maps.Clone(o.Labels)
	if out == nil {
		out = map[string]string{}
	}
	if keepsLabels(o, in, s) {
		if isPolicy(o) || o.Ref.Kind == "Dataplane" { // others are found by labels that are there
			setDefaultLabel(out, displayNameLabel, o.Ref.Name)
		}
		setDefaultLabel(out, meshLabel, findMesh(o, in))
		return out
	}
	if s.Text("kuma.labels") == "compute" {
		delete(out, displayNameLabel)
		delete(out, roleLabel)
	}
	setDefaultLabel(out, displayNameLabel, o.Ref.Name)
	setDefaultLabel(out, meshLabel, findMesh(o, in))
	if o.Ref.Namespace != "" {
		setDefaultLabel(out, namespaceLabel, o.Ref.Namespace)
	}
	origin := s.Text("kuma.mode")
	setDefaultLabel(out, originLabel, origin)
	if origin == "zone" {
		setDefaultLabel(out, zoneLabel, s.Text("kuma.zone"))
		setDefaultLabel(out, envLabel, "kubernetes")
	}
	if isPolicy(o) {
		role, _ := computeRole(o, s)
		setDefaultLabel(out, roleLabel, role)
	}
	return out
}

// keepsLabels reports whether the labels of an object are taken as they are.
func keepsLabels(o *model.Object, in *model.Snapshot, s model.Settings) bool {
	mode, origin := s.Text("kuma.labels"), o.Labels[originLabel]
	return mode == "stored" || mode == "auto" && in.Cluster != nil || origin != "" && origin != s.Text("kuma.mode")
}

func setDefaultLabel(labels map[string]string, key, value string) {
	if labels[key] == "" {
		labels[key] = value
	}
}

// findMesh is the mesh of an object: its label, its field, the label of its Namespace, or default.
func findMesh(o *model.Object, in *model.Snapshot) string {
	if mesh := o.Labels[meshLabel]; mesh != "" {
		return mesh
	}
	if mesh := o.Text("mesh"); mesh != "" {
		return mesh
	}
	if ns := in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace}); ns != nil && ns.Labels[meshLabel] != "" {
		return ns.Labels[meshLabel]
	}
	return "default"
}

// isPolicy reports whether the object is one of the targetRef policies: any kind of the group that
// is none of its other objects.
func isPolicy(o *model.Object) bool {
	switch o.Ref.Kind {
	case "Mesh", "Dataplane", "MeshService", "MeshExternalService", "MeshMultiZoneService", "MeshGateway":
		return false
	}
	return o.Ref.Group == group
}

// computeRole is the role that the control plane gives a policy; not ok if its items are of both
// sorts, which it refuses.
func computeRole(o *model.Object, s model.Settings) (role string, ok bool) {
	if o.Ref.Namespace == "" || o.Ref.Namespace == s.Text("kuma.systemNamespace") {
		return systemRole, true
	}
	producers, consumers := 0, 0
	for _, item := range o.Body.At("spec", "to").Items {
		if isOwnDestination(item.Field("targetRef"), o.Ref.Namespace, isDialect214(s)) {
			producers++
		} else {
			consumers++
		}
	}
	switch {
	case producers+consumers == 0:
		return workloadOwnerRole, true
	case producers == 0:
		return consumerRole, true
	}
	return producerRole, consumers == 0
}

// isOwnDestination reports whether a destination is the policy's own service or route, named by
// display name, in 2.14 by name.
func isOwnDestination(ref model.Body, namespace string, old bool) bool {
	if kind := ref.Field("kind").Text(); kind != "MeshService" && kind != "MeshHTTPRoute" {
		return false
	}
	own := func(ns string) bool { return ns == "" || ns == namespace }
	if old {
		return ref.Field("name").Text() != "" && own(ref.Field("namespace").Text())
	}
	labels := ref.Field("labels")
	named := false
	for key := range labels.Fields {
		switch key {
		case displayNameLabel:
			named = true
		case namespaceLabel:
		default:
			return false
		}
	}
	return named && own(labels.Field(namespaceLabel).Text())
}

// hasLabels reports whether the labels contain all of the wanted ones.
func hasLabels(labels map[string]string, wanted model.Body) bool {
	for key, value := range wanted.Fields {
		if have, ok := labels[key]; !ok || have != value.Text() {
			return false
		}
	}
	return true
}

// displayName is the name under which people know an object of any control plane.
func displayName(labels map[string]string, o *model.Object) string {
	if name := labels[displayNameLabel]; name != "" {
		return name
	}
	return o.Ref.Name
}

// isShadowPolicy reports whether a policy is one that is only watched.
func isShadowPolicy(labels map[string]string) bool {
	return strings.EqualFold(labels[effectLabel], "shadow")
}
