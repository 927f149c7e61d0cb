package topology

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Lookup finds the nodes that stand for ref: one for most objects, none if the graph has none,
// several where one name means several parts, and last a Service's node as a parent of routes, if
// it is one. A section is a listener's name; a rule's name, where the first rule of that name is
// meant and a name wins over rule-N (gatewayapi G3); or a port's name, else its number. Kinds
// without a namespace are found whatever namespace ref says. Of the objects in the input only those
// of the roles' kinds, and those that a rule names as a backend, have nodes.
func (x *index) Lookup(ref model.Ref) []NodeID {
	found := x.withInstances(x.findNodes(ref))
	if more := x.nodes.extra[ref]; more != nil {
		found = append(slices.Clip(found), more...)
	}
	if len(x.nodes.frontends) == 0 {
		return found
	}
	return x.withFrontends(ref, found)
}

func (x *index) findNodes(ref model.Ref) []NodeID {
	id, ok := x.nodes.Find(ref)
	switch {
	case !ok:
		return nil
	case ref.Section == "":
		return []NodeID{id}
	}
	switch n := &x.nodes.list[id]; n.Role {
	case Route:
		return x.findRule(n, ref.Section)
	case Backend:
		if found := x.partsNamed(n, ref.Section); found != nil {
			return found
		}
		return x.portsNumbered(n, ref.Section)
	default:
		return x.partsNamed(n, ref.Section)
	}
}

// Sections lists the sections of ref's object in document order: the names of listeners or ports,
// of rules the name or, where that does not tell them apart, rule-N.
func (x *index) Sections(ref model.Ref) []string {
	id, ok := x.nodes.Find(ref)
	if !ok {
		return nil
	}
	var out []string
	for part := range x.nodes.list[id].EachPart {
		out = append(out, x.nodes.list[part].Ref.Section)
	}
	return out
}

// findRule finds the rule that section means: the first that is called so, else the unnamed one at
// that place.
func (x *index) findRule(route *Node, section string) []NodeID {
	var byPlace []NodeID
	id, end := route.PartRange()
	for i, rule := range route.Object.Body.At("spec", "rules").Items {
		if id == end || x.nodes.list[id].Index != i {
			continue // it has no node
		}
		if rule.Field("name").Text() == section {
			return []NodeID{id}
		}
		if byPlace == nil && x.nodes.list[id].Ref.Section == section {
			byPlace = []NodeID{id}
		}
		id++
	}
	if byPlace == nil && id != end && x.nodes.list[id].Ref.Section == section {
		return []NodeID{id} // the one that a route without rules has
	}
	return byPlace
}

// partsNamed lists the parts of n with the given section.
func (x *index) partsNamed(n *Node, section string) []NodeID {
	var out []NodeID
	for id := range n.EachPart {
		if x.nodes.list[id].Ref.Section == section {
			out = append(out, id)
		}
	}
	return out
}

// portsNumbered lists the ports of n with the given number.
func (x *index) portsNumbered(n *Node, number string) []NodeID {
	want, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return nil
	}
	var out []NodeID
	for id := range n.EachPart {
		if x.portNumber(id) == int32(want) {
			out = append(out, id)
		}
	}
	return out
}
