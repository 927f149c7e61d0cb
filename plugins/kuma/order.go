package kuma

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// byReference compares how two policies name Dataplanes: by labels before by name (2.14), without a section before with one.
func byReference(a, b *policy.Attached) int {
	x, y := a.Policy.Object.Body.At("spec", "targetRef"), b.Policy.Object.Body.At("spec", "targetRef")
	if x.Field("kind").Text() != "Dataplane" || y.Field("kind").Text() != "Dataplane" {
		return 0
	}
	return cmp.Or(cmp.Compare(given(x, "name"), given(y, "name")), cmp.Compare(given(x, "sectionName"), given(y, "sectionName")))
}

// byDestination compares what items of two policies name, outbound only: its kind, then MeshServices without a section before those with one.
func byDestination(a, b *policy.Attached) int {
	if !outboundPart(a.Policy) || !outboundPart(b.Policy) {
		return 0
	}
	x, y := a.Policy.Entry.Field("targetRef"), b.Policy.Entry.Field("targetRef")
	kind := x.Field("kind").Text()
	if c := cmp.Compare(destinationRank(kind), destinationRank(y.Field("kind").Text())); c != 0 || kind != "MeshService" {
		return c
	}
	return cmp.Compare(given(x, "sectionName"), given(y, "sectionName"))
}

func outboundPart(p *policy.Policy) bool { return len(p.Part) > 2 && p.Part[:3] == "to[" }

func destinationRank(kind string) int {
	return slices.Index([]string{"Mesh", "MeshSubset", "MeshService", "MeshServiceSubset", "MeshExternalService", "MeshMultiZoneService", "MeshGateway", "MeshHTTPRoute"}, cmp.Or(kind, "Mesh"))
}

// given is 1 if a field is there.
func given(b model.Body, field string) int {
	if b.Field(field).Text() != "" {
		return 1
	}
	return 0
}
