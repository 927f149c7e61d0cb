package descriptor

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

func TestRoutesOfKinds(t *testing.T) {
	forms := func(names ...string) (out []policy.TargetForm) {
		for _, n := range names {
			out = append(out, policy.TargetForm{GroupKind: model.GroupKind{Group: policy.DefaultGroup(n), Kind: n}})
		}
		return out
	}
	tests := []struct {
		name     string
		targets  []policy.TargetForm
		declared []string // of a descriptor with these targets
		observed []string // of a kind without one whose policies have these targets
	}{
		{"Gateways only", forms("Gateway"), []string{"GRPCRoute", "HTTPRoute"}, []string{"GRPCRoute", "HTTPRoute"}},
		{"HTTPRoutes", forms("Gateway", "HTTPRoute"), []string{"HTTPRoute"}, []string{"GRPCRoute", "HTTPRoute"}},
		{"TCPRoutes", forms("TCPRoute"), []string{"TCPRoute"}, []string{"GRPCRoute", "HTTPRoute", "TCPRoute"}},
		{"nothing", nil, []string{"GRPCRoute", "HTTPRoute"}, []string{"GRPCRoute", "HTTPRoute"}},
	}
	names := func(gks []model.GroupKind) (out []string) {
		for _, gk := range gks {
			out = append(out, gk.Kind)
		}
		return out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := names(targetRoutes(tt.targets)); !slices.Equal(got, tt.declared) {
				t.Errorf("with a descriptor %v", got)
			}
			if got := names(observedRoutes(tt.targets)); !slices.Equal(got, tt.observed) {
				t.Errorf("without one %v", got)
			}
		})
	}
}
