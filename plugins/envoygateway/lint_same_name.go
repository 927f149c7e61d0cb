package envoygateway

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findSameNames says that a policy for a listener of a Gateway does not hold for a listener of the
// same name that a ListenerSet brings.
func findSameNames(k *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Gateway {
			continue
		}
		for _, set := range g.ListenerSetsOf(id) {
			for _, name := range g.Sections(g.Node(set).Ref) {
				for _, listener := range g.Lookup(n.Ref.WithSection(name)) {
					if !at.HasAny(listener) {
						continue
					}
					out = append(out, model.Problem{Severity: model.Info, Code: model.NotReached,
						Message: fmt.Sprintf(
							"listener %s of %s has its name in common with one of %s: a %s for that one does not hold here", name, g.Node(set).Ref, n.Ref, k.GroupKind.Kind)}.At(g.Node(set).Object))
				}
			}
		}
	}
	return out
}
