package topology

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// delegationsAt are the ways in which the rules of a route may hand over: those of the implementations at whose Gateways the route is
// attached, or may be.
func (c *chains) delegationsAt(route NodeID) []Delegation {
	handing := false
	for rule := range c.nodes[route].parts.all {
		handing = handing || len(c.handing[rule]) > 0
	}
	if !handing {
		return nil
	}
	taken := make([]bool, len(c.delegations))
	for _, a := range c.tables[c.nodes[route].table] {
		if a.State != Accepted && a.State != Unknown || MeshParent(a.Parent.GroupKind()) {
			continue
		}
		controller, known := c.controllerAt(a), false
		for i, d := range c.delegations {
			if controller == "" || slices.Contains(d.Controllers, controller) {
				taken[i], known = true, true
			}
		}
		if !known {
			c.note(topic{what: delegationNotEvaluated, about: kindRef(httpRouteKind)}, c.nodes[route].Object)
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

// reads reports whether a backendRef means routes by the implementation's rules: one with a label does by those of one group alone.
func (d Delegation) reads(ref delegate) bool {
	return !ref.labels || d.LabelGroup != "" && d.LabelGroup == ref.ref.Group && d.LabelKind == ref.ref.Kind
}

// inherits reports whether a child lets its parent's matches be part of its own.
func (d Delegation) inherits(child *model.Object) bool {
	return d.InheritKey != "" && slices.Contains(d.Inherit, strings.ToLower(child.Annotations[d.InheritKey]))
}

// controllerAt is the controller of the Gateway of an attachment; "" if the input does not tell.
func (gs *gateways) controllerAt(a Attachment) string {
	id, ok := gs.find(a.Parent.WithoutSection())
	if !ok {
		return ""
	}
	if i, ok := gs.gatewayOf[gs.gatewayBehind(id)]; ok {
		return gs.controllerOfClass(gs.specs[i].class)
	}
	return ""
}

// controllerOfClass is the controller of a GatewayClass, "" if that is not in the input.
func (gs *gateways) controllerOfClass(name string) string {
	class := gs.in.Get(model.Ref{Group: gatewayClassKind.Group, Kind: gatewayClassKind.Kind, Name: name})
	if class == nil {
		return ""
	}
	return class.Text("spec", "controllerName")
}
