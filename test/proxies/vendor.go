package main

import (
	"context"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// vendor is an implementation whose released code makes the configuration of its proxies.
type vendor struct {
	program.Peer
	controller string   // of its GatewayClasses
	without    []string // kinds that are not drawn, because its code does not take them
	arguments  []string // that tell kubectl-dopolicy how the vendor's controller is started
	// answers asks the proxies of a world, each request by itself.
	answers func(ctx context.Context, p *program.Process, w *world, requests []request) ([]reply, error)
	// policies draws policies that protect what is in a world, and credentials adds those that they ask for, good or bad. nil: the vendor's are not asked.
	policies    func(g *worldDrawing)
	credentials func(r request, good bool) request
	// audited are the policies that are drawn for audits. nil: the vendor's proxies are not audited.
	audited []policyKind
}

// takes reports whether the vendor's code takes objects of a kind.
func (v *vendor) takes(kind string) bool { return !slices.Contains(v.without, kind) }

// vendors are all of them, in the order of the figures.
func vendors() []*vendor {
	return []*vendor{envoyGateway, kgateway, istio, traefik}
}
