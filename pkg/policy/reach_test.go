package policy

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func TestRoutesOfKinds(t *testing.T) {
	forms := func(names ...string) (out []TargetForm) {
		for _, n := range names {
			out = append(out, TargetForm{GroupKind: form(n)})
		}
		return out
	}
	tests := []struct {
		name     string
		targets  []TargetForm
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

func TestPasses(t *testing.T) {
	tcp := form("TCPRoute")
	rules := &Kind{Effective: []topology.Role{topology.Rule, topology.Backend}, Routes: topology.HTTPRouteKinds()}
	backends := &Kind{Effective: []topology.Role{topology.Backend}, Routes: topology.HTTPRouteKinds()}
	rule := func(gk model.GroupKind) *topology.Node {
		return &topology.Node{Role: topology.Rule, Ref: model.Ref{Group: gk.Group, Kind: gk.Kind}}
	}
	http := form("HTTPRoute")
	if !rules.Passes(http) || rules.Passes(tcp) || !rules.ReachesNode(rule(http)) || rules.ReachesNode(rule(tcp)) {
		t.Error("a kind about HTTP holds for TCPRoutes, or not for HTTPRoutes")
	}
	if !backends.Passes(tcp) || backends.ReachesNode(rule(http)) {
		t.Error("a kind of backends cares for what leads to them, or has results before them")
	}
}

func form(kind string) model.GroupKind { return model.GroupKind{Group: defaultGroup(kind), Kind: kind} }
