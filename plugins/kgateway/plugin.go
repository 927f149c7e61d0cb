// Package kgateway describes the policy kinds of kgateway.
package kgateway

import (
	_ "embed" // kinds.yaml

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.yaml
var kinds []byte

const (
	group      = "gateway.kgateway.dev"
	controller = "kgateway.dev/kgateway"
)

// Plugin hands the kinds over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kgateway", Kinds: kinds,
		Path:       map[string]policy.Step{"kgateway.Own": own},
		Checks:     map[string]policy.Check{"kgateway.Traffic": judge, "kgateway.Backend": judgeBackend, "kgateway.Older": older},
		Lints:      map[string]policy.Lint{"kgateway.Annotations": annotations},
		Voids:      map[string]policy.Void{"kgateway.Replaced": replaced},
		Normalize:  map[string]policy.Normalizer{"kgateway.Extensions": extensions},
		Plans:      map[string]func(model.Settings) merge.PlanFunc{"kgateway.Level": level},
		Strategies: map[string]policy.StrategyOf{"kgateway.Layers": layers, "kgateway.Inherited": inherited},
		Status:     status.Functions{Makers: map[string]func(*resolve.Resolution, *resolve.Kind) status.Writer{"kgateway.Attached": attached, "kgateway.Backends": backends}},
		Links:      []topology.Linker{link}}
}

// link tells how routes hand over to routes.
func link(b *topology.Builder) {
	b.Delegate(topology.Delegation{Controllers: []string{controller},
		LabelGroup: "delegation.kgateway.dev", LabelKind: "label", LabelKey: "delegation.kgateway.dev/label", Everywhere: "all",
		InheritKey: "delegation.kgateway.dev/inherit-parent-matcher", Inherit: []string{"true", "yes", "enabled"}})
}

// own recognises steps below the Gateways of kgateway, and below those of which the class is not in the input.
func own(g *topology.Graph, parent, _ topology.NodeID) *model.Problem {
	n := g.Node(parent)
	if n.Role != topology.GatewayClass || n.Object == nil {
		return nil
	}
	name := n.Object.Text("spec", "controllerName")
	if name == "" || name == controller {
		return nil
	}
	p := model.Problem{Severity: model.Info, Code: model.NotReached, Message: n.Ref.String() + " is of controller " + name + ", which does not know kgateway's policies"}.At(n.Object)
	return &p
}
