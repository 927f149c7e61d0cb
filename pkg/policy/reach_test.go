package policy

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

func TestPasses(t *testing.T) {
	tcp := model.GroupKind{Group: GatewayGroup, Kind: "TCPRoute"}
	rules := &Reach{Effective: []topology.Role{topology.Rule, topology.Backend}, Routes: gatewayapi.HTTPRouteKinds()}
	backends := &Reach{Effective: []topology.Role{topology.Backend}, Routes: gatewayapi.HTTPRouteKinds()}
	rule := func(gk model.GroupKind) *topology.Node {
		return &topology.Node{Role: topology.Rule, Ref: model.Ref{Group: gk.Group, Kind: gk.Kind}}
	}
	http := model.GroupKind{Group: GatewayGroup, Kind: "HTTPRoute"}
	if !rules.PassesRoutes(http) || rules.PassesRoutes(tcp) || !rules.HasResultsAtNode(rule(http)) ||
		rules.HasResultsAtNode(rule(tcp)) {
		t.Error("a kind about HTTP holds for TCPRoutes, or not for HTTPRoutes")
	}
	if !backends.PassesRoutes(tcp) || backends.HasResultsAtNode(rule(http)) {
		t.Error("a kind of backends cares for what leads to them, or has results before them")
	}
}
