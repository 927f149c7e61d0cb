package kuma

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// compareReferences compares how two policies name Dataplanes: by labels before by name (2.14),
// without a section before with one.
func compareReferences(a, b *policy.Attached) int {
	x, y := a.Policy.Object.Body.At("spec", "targetRef"), b.Policy.Object.Body.At("spec", "targetRef")
	if x.Field("kind").Text() != "Dataplane" || y.Field("kind").Text() != "Dataplane" {
		return 0
	}
	return cmp.Or(cmp.Compare(givenRank(x, "name"), givenRank(y, "name")), cmp.Compare(givenRank(x, "sectionName"),
		givenRank(y, "sectionName")))
}

// compareDestinations compares what items of two policies name, outbound only: its kind, then
// MeshServices without a section before those with one.
func compareDestinations(a, b *policy.Attached) int {
	if !isOutboundPart(a.Policy) || !isOutboundPart(b.Policy) {
		return 0
	}
	x, y := a.Policy.Entry.Field("targetRef"), b.Policy.Entry.Field("targetRef")
	kind := x.Field("kind").Text()
	if c := cmp.Compare(rankDestinationKind(kind), rankDestinationKind(y.Field("kind").Text())); c != 0 ||
		kind != "MeshService" {
		return c
	}
	return cmp.Compare(givenRank(x, "sectionName"), givenRank(y, "sectionName"))
}

func isOutboundPart(p *policy.Policy) bool { return len(p.Part) > 2 && p.Part[:3] == "to[" }

func rankDestinationKind(kind string) int {
	return slices.Index([]string{"Mesh", "MeshSubset", "MeshService", "MeshServiceSubset", "MeshExternalService",
		"MeshMultiZoneService", "MeshGateway", "MeshHTTPRoute"}, cmp.Or(kind, "Mesh"))
}

// givenRank is 1 if a field is there, else 0.
func givenRank(b model.Body, field string) int {
	if b.Field(field).Text() != "" {
		return 1
	}
	return 0
}
