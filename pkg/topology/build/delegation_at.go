package build

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// delegationsAt returns the ways in which the rules of a route may hand over: those of the
// implementations at whose Gateways the route is attached, or may be.
func (c *delegationChains) delegationsAt(route topology.NodeID) []Delegation {
	handing := false
	for rule := range c.nodes.Node(route).EachPart {
		handing = handing || len(c.delegates[rule]) > 0
	}
	if !handing {
		return nil
	}
	taken := make([]bool, len(c.delegations))
	for _, a := range c.tables[route] {
		if a.State != topology.Accepted && a.State != topology.Unknown ||
			gatewayapi.IsMeshParent(a.Parent.GroupKind()) {
			continue
		}
		controller, known := c.controllerOfAttachment(a), false
		for i, d := range c.delegations {
			if controller == "" || slices.Contains(d.Controllers, controller) {
				taken[i], known = true, true
			}
		}
		if !known {
			c.addNote(noteTopic{kind: delegationNotEvaluated, about: kindRef(gatewayapi.HTTPRouteKind)},
				c.nodes.Node(route).Object)
		}
	}
	var out []Delegation
	for i, d := range c.delegations {
		if taken[i] {
			out = append(out, d)
		}
	}
	return out
}

// matchesRef reports whether a backendRef means routes by the implementation's rules: one with a
// label does by those of one group alone.
func (d Delegation) matchesRef(ref delegateRef) bool {
	return !ref.byLabel || d.LabelGroup != "" && d.LabelGroup == ref.ref.Group && d.LabelKind == ref.ref.Kind
}

// isInherited reports whether a child lets its parent's matches be part of its own.
func (d Delegation) isInherited(child *model.Object) bool {
	return d.InheritKey != "" && slices.Contains(d.InheritValues, strings.ToLower(child.Annotations[d.InheritKey]))
}

// controllerOfAttachment returns the controller of the Gateway of an attachment; "" if the input
// does not tell.
func (gs *gatewayBuilder) controllerOfAttachment(a topology.Attachment) string {
	id, ok := gs.nodes.Find(a.Parent.WithoutSection())
	if !ok {
		return ""
	}
	if i, ok := gs.gatewayOf[gs.owningGateway(id)]; ok {
		return gs.controllerOfClass(gs.specs[i].class)
	}
	return ""
}

// controllerOfClass returns the controller of a GatewayClass, "" if that is not in the input.
func (gs *gatewayBuilder) controllerOfClass(name string) string {
	class := gs.in.Get(model.Ref{Group: gatewayapi.GatewayClassKind.Group, Kind: gatewayapi.GatewayClassKind.Kind,
		Name: name})
	if class == nil {
		return ""
	}
	return class.Text("spec", "controllerName")
}
