package plugin

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// RoutingProfiles return how data planes choose the rule for a request: what the descriptors say of
// the implementation of a Gateway, or of the mesh of a Service.
func RoutingProfiles(c *descriptor.Catalog) request.Profiles {
	known := c.RoutingProfiles()
	out := request.Profiles{}
	for i := range known {
		if known[i].Controllers != nil {
			out.All = append(out.All, &known[i].Profile)
		}
	}
	slices.SortFunc(out.All, func(a, b *routing.Profile) int { return strings.Compare(a.Name, b.Name) })
	out.AtGateway = func(g *topology.Graph, gateway topology.NodeID) *routing.Profile {
		at := slices.IndexFunc(known, func(p descriptor.RoutingProfile) bool {
			return p.Controllers != nil && hasImplementation(g, gateway, p.Vendor, p.Controllers)
		})
		if at < 0 {
			return nil
		}
		return &known[at].Profile
	}
	out.InMesh = func(g *topology.Graph, service model.Ref) *routing.Profile {
		at := slices.IndexFunc(known, func(p descriptor.RoutingProfile) bool {
			return isInMesh(g, service.Namespace, p.Mesh)
		})
		if at < 0 {
			return nil
		}
		return &known[at].Profile
	}
	return out
}

// isInMesh reports whether a namespace has one of the marks by which a mesh takes it: labels or
// annotations that do not say no.
func isInMesh(g *topology.Graph, namespace string, marks []string) bool {
	for _, id := range g.Lookup(gatewayapi.NamespaceRef(namespace)) {
		o := g.Node(id).Object
		for _, mark := range marks {
			for _, of := range []string{"labels", "annotations"} {
				if o != nil && !slices.Contains([]string{"", "disabled", "none", "false"}, o.Text("metadata", of, mark)) {
					return true
				}
			}
		}
	}
	return false
}

// hasImplementation reports whether a Gateway, or a listener, is of a vendor: its class has one of
// the controllers, or the input says so otherwise.
func hasImplementation(g *topology.Graph, id topology.NodeID, vendor string, controllers []string) bool {
	classes := 0
	for _, up := range append(nodesAbove(g, id), id) {
		n := g.Node(up)
		if n.Role != topology.GatewayClass || n.Object == nil {
			continue
		}
		if classes++; slices.Contains(controllers, n.Object.Text("spec", "controllerName")) {
			return true
		}
	}
	return classes == 0 && g.ImplementationName(id) == vendor
}

// nodesAbove returns the nodes that a listener is below.
func nodesAbove(g *topology.Graph, id topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, up := range g.Parents(topology.Traffic, id) {
		out = append(append(out, up), nodesAbove(g, up)...)
	}
	return out
}
