package schema

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestHasAmbiguousDefinition(t *testing.T) {
	in := model.NewSnapshot(nil, nil)
	in.Ambiguous = map[model.Ref]bool{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition",
		Name: "paintpolicies.example.com"}: true}
	for gk, want := range map[model.GroupKind]bool{
		{Group: "example.com", Kind: "PaintPolicy"}: true,
		{Group: "example.com", Kind: "Brush"}:       false,
		{Group: "example.org", Kind: "PaintPolicy"}: false,
	} {
		if got := hasAmbiguousDefinition(in, gk); got != want {
			t.Errorf("%s: %v, want %v", gk, got, want)
		}
	}
}
