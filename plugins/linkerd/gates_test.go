package linkerd

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// TestServerOf: a route leads to its Server, and one without a Server to none.
func TestServerOf(t *testing.T) {
	object := func(group, kind, name string) *model.Object {
		return &model.Object{Ref: model.Ref{Group: group, Kind: kind, Namespace: "a", Name: name}}
	}
	server, route, lost := object(serverKind.Group, serverKind.Kind, "s"), object("policy.linkerd.io", "HTTPRoute",
		"r"), object("policy.linkerd.io", "HTTPRoute", "lost")
	var on, off, itself topology.NodeID
	g := build.Graph(model.NewSnapshot([]*model.Object{server, route, lost}, nil), model.Settings{},
		func(b *build.Builder) {
			b.AddExtension(func(b *build.Extender, _ *model.Snapshot, _ model.Settings) []model.Problem {
				b.DeclareFamily(serverFamily, serverRole, serverRouteRole)
				itself, on, off = b.AddObject(serverRole, server), b.AddExtraNode(serverRouteRole, route.Ref,
					route), b.AddExtraNode(serverRouteRole, lost.Ref, lost)
				b.Connect(serverFamily, itself, on)
				return nil
			})
		})
	for name, id := range map[string]topology.NodeID{"a Server": itself, "a route on one": on} {
		if got := serverOf(g, id); got == nil || got.Ref != server.Ref {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := serverOf(g, off); got != nil {
		t.Errorf("a route without one: %v", got)
	}
}
