package topology

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// NodeID numbers the nodes of one graph from 0 to Len()-1. Ids mean nothing outside their graph.
type NodeID int32

// None is the NodeID of no node.
const None NodeID = -1

// Role is what a node is to traffic. Roles are open words: linkers may bring their own.
type Role string

// The roles of the core families. An Opaque node, which no graph has, is known by name alone:
// nothing is above or below it.
const (
	GatewayClass Role = "gatewayClass"
	Gateway      Role = "gateway"
	ListenerSet  Role = "listenerSet"
	Listener     Role = "listener"
	Route        Role = "route"
	Rule         Role = "rule"
	Backend      Role = "backend"
	Port         Role = "port"
	Frontend     Role = "service" // a Service as the parent of routes (gatewayapi G49), or one port of it
	Namespace    Role = "namespace"
	Opaque       Role = "opaque"

	MeshRoot Role = "mesh"      // an object that stands for a whole mesh; only linkers make such nodes
	Proxy    Role = "dataplane" // one proxy of a mesh, likewise
	Binding  Role = "binding"   // an object that brings policies to targets, or one of its ways to do so; likewise
	Cluster  Role = "cluster"   // an object that stands for a whole cluster, likewise
)

// Traffic is the family of what comes through Gateways: gatewayClass > gateway > listenerSet >
// listener > route > rule > backend and port (gatewayapi G4); a Gateway's own listeners are right
// below it. A rule that names a port of a Service has an edge to the Service and one to the port;
// the Service has none to its ports, so that a path to a port comes from a rule that uses it.
const Traffic = "traffic"

// Mesh is the family of what comes to Services as such: service > route > rule > backend and port
// (gatewayapi G4, G49). All holds both.
const (
	Mesh = "mesh"
	All  = "all"
)

// Node is one target. Nodes may share their object: a route and its rules, a Gateway and its
// listeners.
type Node struct {
	Role Role
	// with Section for a listener, a rule (its name, else rule-N) and a port (its name, else its
	// number)
	Ref    model.Ref
	Object *model.Object // nil: known only by name
	Index  int           // position in spec.listeners, spec.rules or spec.ports; else 0
	// of a route and its rules: how many routes hand over to it on the way; an instance of the
	// route if not 0
	Hop int32

	Delegates bool // of a rule: it hands over to other routes, and nothing is in force at it

	// of a gateway or a listener set its listeners, of a route its rules, of a Service its ports;
	// of a frontend nothing
	parts nodeRange
}

// nodeRange is n nodes from first on.
type nodeRange struct {
	first NodeID
	n     int32
}

// EachPart yields the nodes of the sections of a whole object, in their order.
func (n *Node) EachPart(yield func(NodeID) bool) {
	first, end := n.PartRange()
	for id := first; id < end && yield(id); id++ {
	}
}

// PartRange returns the node of the first section of a whole object, and that behind the last one:
// sections follow each other.
func (n *Node) PartRange() (first, end NodeID) {
	return n.parts.first, n.parts.first + NodeID(n.parts.n)
}

// Graph is the graph of targets. It does not change once it is made; slices it returns must not be
// changed either.
type Graph struct {
	*reference.Judge
	index
	adjacency
	parts Parts

	// Memo has what vendors make of the graph and its input once, for several questions.
	Memo model.Memo
}

// Attachments returns the attachment table of a route, in order of its parentRefs
// and then of the listeners. A parentRef without a candidate listener has one entry, whose Listener
// is None.
func (g *Graph) Attachments(route NodeID) []Attachment {
	return g.parts.Attachments[route]
}

// Unresolved returns the first backend reference of a route, in document order, that cannot be
// resolved (gatewayapi G34); zero if all can. A backend that may only be missing from the input
// counts as resolved.
func (g *Graph) Unresolved(route NodeID) reference.Unresolved { return g.parts.Unresolved[route] }

// ParentVerdicts returns for every parentRef of a route, in order, the attachment that says how far
// it got (gatewayapi G11, G17): the first that is Accepted, else Unknown, else refused for the
// reason furthest down the checks.
func (g *Graph) ParentVerdicts(route NodeID) []Attachment {
	var out []Attachment
	for _, a := range g.Attachments(route) {
		last := len(out) - 1
		if last < 0 || out[last].Parent != a.Parent || out[last].Port != a.Port || out[last].Implicit != a.Implicit {
			out = append(out, a)
		} else if a.State.rankProgress() > out[last].State.rankProgress() {
			out[last] = a
		}
	}
	return out
}

// Problems lists what is wrong with the input as far as the graph reads it, and what is not
// evaluated, sorted.
func (g *Graph) Problems() []model.Problem { return g.parts.Problems }
