package topology

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// index holds the nodes of a graph, and finds them by what they stand for.
type index struct {
	objects    *model.Snapshot
	nodes      []Node
	byObject   map[*model.Object]NodeID
	byName     map[model.Ref]NodeID // of what is not in the input
	ports      []servicePort        // by port node, from firstPort on
	firstPort  NodeID
	frontends  map[model.Ref]NodeID
	instances  map[NodeID][]NodeID // of routes that others delegate to, and of their rules
	extraNodes map[model.Ref][]NodeID
}

// Len returns the number of nodes.
func (x *index) Len() int { return len(x.nodes) }

// Node returns the node with the given id, which must be one of this graph.
func (x *index) Node(id NodeID) *Node { return &x.nodes[id] }

// addNode appends the node of a whole object, under which its reference finds it.
func (x *index) addNode(n Node) NodeID {
	id := NodeID(len(x.nodes))
	x.nodes = append(x.nodes, n)
	if n.Object != nil {
		x.byObject[n.Object] = id
	} else {
		x.byName[n.Ref] = id
	}
	return id
}

// addPart appends a section of owner; the sections of one owner follow each other.
func (x *index) addPart(owner NodeID, n Node) NodeID {
	id := NodeID(len(x.nodes))
	x.nodes = append(x.nodes, n)
	parts := &x.nodes[owner].parts
	if parts.n == 0 {
		parts.first = id
	}
	parts.n++
	return id
}

// Parts lists the nodes of the sections of a whole object, in their order.
func (x *index) Parts(id NodeID) []NodeID {
	parts := x.nodes[id].parts
	return slices.AppendSeq(make([]NodeID, 0, parts.n), parts.allNodes)
}

// servicePort is what backendRefs need to know of a port of a Service.
type servicePort struct {
	number int32
	udp    bool
}

// portNode returns the node of the Service's port with that number; where TCP and UDP share it, the
// one of the route's protocol.
func (x *index) portNode(service NodeID, number int32, udp bool) NodeID {
	found := None
	for id := range x.nodes[service].parts.allNodes {
		p := x.ports[id-x.firstPort]
		if p.number != number {
			continue
		}
		if p.udp == udp {
			return id
		}
		found = id
	}
	return found
}

// portNumber returns the number of a port.
func (x *index) portNumber(id NodeID) int32 {
	if at := int(id - x.firstPort); at < len(x.ports) {
		return x.ports[at].number
	}
	number, err := strconv.ParseInt(x.nodes[id].Ref.Section, 10, 32)
	if err != nil {
		return 0
	}
	return int32(number)
}

// PortName returns how the port of a Service with a number is called: its name, else its number; ""
// if there is none.
func (x *index) PortName(service model.Ref, number int32) string {
	id, ok := x.findNode(service)
	if !ok {
		return ""
	}
	ports := x.portsNumbered(&x.nodes[id], formatInt(int(number)))
	if len(ports) == 0 {
		return ""
	}
	return x.nodes[ports[0]].Ref.Section
}

// DescribePorts lists the ports of a Service for people, each by its name and number.
func (x *index) DescribePorts(service model.Ref) []string {
	id, ok := x.findNode(service)
	if !ok {
		return nil
	}
	var out []string
	for port := range x.nodes[id].parts.allNodes {
		name, number := x.nodes[port].Ref.Section, formatInt(int(x.portNumber(port)))
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
	if id, ok := x.frontends[ref]; ok {
		return id
	}
	return None
}

// withFrontends adds to the nodes that stand for ref those of the same Services and ports as parents.
func (x *index) withFrontends(ref model.Ref, found []NodeID) []NodeID {
	out := slices.Clip(found)
	if id, ok := x.frontends[ref]; ok {
		out = append(out, id)
	}
	for _, id := range found {
		n := &x.nodes[id]
		if n.Role != Backend && n.Role != Port {
			continue
		}
		if at, ok := x.frontends[n.Ref]; ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// Instances lists the copies of a route, or of a rule, that chains of delegation lead to, sorted.
func (x *index) Instances(id NodeID) []NodeID { return x.instances[id] }

// withInstances adds to nodes their copies.
func (x *index) withInstances(found []NodeID) []NodeID {
	if len(x.instances) == 0 {
		return found
	}
	out := slices.Clip(found)
	for _, id := range found {
		out = append(out, x.instances[id]...)
	}
	return out
}
