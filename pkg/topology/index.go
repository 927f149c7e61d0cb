package topology

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// index finds the nodes of a graph by what they stand for.
type index struct{ nodes *Nodes }

// Len returns the number of nodes.
func (x *index) Len() int { return x.nodes.Len() }

// Node returns the node with the given id, which must be one of this graph.
func (x *index) Node(id NodeID) *Node { return x.nodes.Node(id) }

// Parts lists the nodes of the sections of a whole object, in their order.
func (x *index) Parts(id NodeID) []NodeID {
	n := x.Node(id)
	return slices.AppendSeq(make([]NodeID, 0, n.parts.n), n.EachPart)
}

// portNumber returns the number of a port.
func (x *index) portNumber(id NodeID) int32 {
	if at := int(id - x.nodes.firstPort); at < len(x.nodes.ports) {
		return x.nodes.ports[at].number
	}
	number, err := strconv.ParseInt(x.nodes.list[id].Ref.Section, 10, 32)
	if err != nil {
		return 0
	}
	return int32(number)
}

// PortName returns how the port of a Service with a number is called: its name, else its number; ""
// if there is none.
func (x *index) PortName(service model.Ref, number int32) string {
	id, ok := x.nodes.Find(service)
	if !ok {
		return ""
	}
	ports := x.portsNumbered(&x.nodes.list[id], manifest.FormatInt(int(number)))
	if len(ports) == 0 {
		return ""
	}
	return x.nodes.list[ports[0]].Ref.Section
}

// DescribePorts lists the ports of a Service for people, each by its name and number.
func (x *index) DescribePorts(service model.Ref) []string {
	id, ok := x.nodes.Find(service)
	if !ok {
		return nil
	}
	var out []string
	for port := range x.nodes.list[id].EachPart {
		name, number := x.nodes.list[port].Ref.Section, manifest.FormatInt(int(x.portNumber(port)))
		if name != number {
			number += " (" + name + ")"
		}
		out = append(out, number)
	}
	return out
}

// Frontend returns the node of a Service, or of a port of one, as a parent of routes (gatewayapi
// G49); None if it is none. Its reference is that of the node as a backend.
func (x *index) Frontend(ref model.Ref) NodeID {
	return x.nodes.Frontend(ref)
}

// withFrontends adds to the nodes that stand for ref those of the same Services and ports as
// parents.
func (x *index) withFrontends(ref model.Ref, found []NodeID) []NodeID {
	out := slices.Clip(found)
	if id, ok := x.nodes.frontends[ref]; ok {
		out = append(out, id)
	}
	for _, id := range found {
		n := &x.nodes.list[id]
		if n.Role != Backend && n.Role != Port {
			continue
		}
		if at, ok := x.nodes.frontends[n.Ref]; ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// Instances lists the copies of a route, or of a rule, that chains of delegation lead to, sorted.
func (x *index) Instances(id NodeID) []NodeID { return x.nodes.instances[id] }

// withInstances adds to nodes their copies.
func (x *index) withInstances(found []NodeID) []NodeID {
	if len(x.nodes.instances) == 0 {
		return found
	}
	out := slices.Clip(found)
	for _, id := range found {
		out = append(out, x.nodes.instances[id]...)
	}
	return out
}
