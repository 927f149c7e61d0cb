package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// NodeID numbers the nodes of one graph from 0 to Len()-1. Ids mean nothing outside their graph.
type NodeID int32

// None is the NodeID of no node.
const None NodeID = -1

// Role is what a node is to traffic. Roles are open words: linkers may bring their own.
type Role string

// The roles of the core families. An Opaque node, which no graph has, is known by name alone: nothing is above or below it.
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

// Traffic is the family of what comes through Gateways: gatewayClass > gateway > listenerSet > listener > route > rule > backend and port
// (gatewayapi G4); a Gateway's own listeners are right below it.
// A rule that names a port of a Service has an edge to the Service and one to the port; the Service has none to its ports, so that
// a path to a port comes from a rule that uses it.
const Traffic = "traffic"

// Mesh is the family of what comes to Services as such: service > route > rule > backend and port (gatewayapi G4, G49). All holds both.
const (
	Mesh = "mesh"
	All  = "all"
)

// trafficLevels are the roles of Traffic, every parent's before its children's.
var trafficLevels = [...]Role{GatewayClass, Gateway, ListenerSet, Listener, Route, Rule, Backend, Port}

// Node is one target. Nodes may share their object: a route and its rules, a Gateway and its listeners.
type Node struct {
	Role   Role
	Ref    model.Ref     // with Section for a listener, a rule (its name, else rule-N) and a port (its name, else its number)
	Object *model.Object // nil: known only by name
	Index  int           // position in spec.listeners, spec.rules or spec.ports; else 0
	Hop    int32         // of a route and its rules: how many routes hand over to it on the way; an instance of the route if not 0

	Delegates bool // of a rule: it hands over to other routes, and nothing is in force at it

	parts nodeRange // of a gateway or a listener set its listeners, of a route its rules, of a Service its ports; of a frontend nothing
	table int32     // of a route: its position in Graph.tables
}

// nodeRange is n nodes from first on.
type nodeRange struct {
	first NodeID
	n     int32
}

func (s nodeRange) allNodes(yield func(NodeID) bool) {
	for id := s.first; id < s.endNode() && yield(id); id++ {
	}
}

func (s nodeRange) endNode() NodeID { return s.first + NodeID(s.n) }

// Graph is the graph of targets. It does not change after Build; slices it returns must not be changed either.
type Graph struct {
	referenceJudge
	index
	adjacency
	tables         [][]Attachment // by route
	unresolved     map[NodeID]Unresolved
	wantDefaults   map[NodeID]struct{} // routes that ask for default Gateways
	owners         map[listenerRoute]hostOwners
	numberedPorts  map[model.GroupKind]bool
	sections       map[model.GroupKind]SectionsFunc
	problems       []model.Problem
	uses           map[NodeID][]NodeUse
	coreGroupNames []string // names of the group that has none
	routesTogether bool
	routeAliases   []routeAlias

	listenerTable
	sharedPorts        map[NodeID]hostOwners
	implementations    map[NodeID]string // by Gateway: the name of its implementation
	sets               []SetFacts        // by ListenerSet node, from firstSet on
	firstSet           NodeID
	setsOf             map[NodeID][]NodeID
	setsApart          bool
	mergesGateways     bool
	clientCertificates map[NodeID]Unresolved // by Gateway with a client certificate
	certificates       certificateStore
}

// Attachments returns the attachment table of a route, in order of its parentRefs
// and then of the listeners. A parentRef without a candidate listener has one entry, whose Listener
// is None.
func (g *Graph) Attachments(route NodeID) []Attachment {
	n := &g.nodes[route]
	if n.Role != Route {
		return nil
	}
	return g.tables[n.table]
}

// Unresolved says why a reference cannot be used: the reason of the ResolvedRefs condition of what makes it. Without a Reason it is not
// known whether it can, because what would tell could not be read or is not in the input.
type Unresolved struct {
	Reason, Message string

	gap gapKind // what a cluster did not let us read, if that would tell
}

// Unresolved returns the first backend reference of a route, in document order, that cannot be
// resolved (gatewayapi G34); zero if all can. A backend that may only be missing from the input
// counts as resolved.
func (g *Graph) Unresolved(route NodeID) Unresolved { return g.unresolved[route] }

// ListenerFacts is what the spec of a listener says about the traffic and the routes it takes.
type ListenerFacts struct {
	Protocol           string
	Port               int32             // 0: not given
	Hostname           string            // "": every host
	Kinds              []model.GroupKind // the route kinds that it takes (gatewayapi G13)
	Unsupported        bool              // the protocol is none of the Gateway API's, nor one with a domain
	InvalidKinds       bool              // allowedRoutes names kinds that it cannot take
	Unreadable         bool              // a field has the wrong type: it takes no route
	Conflict           Conflict          // with other listeners of the Gateway, or that come before it there: it takes no traffic
	Refused            Refusal           // it is not accepted for another reason than its protocol: it takes no traffic
	TLSMode            string            // of HTTPS and TLS: Terminate or Passthrough; "" where it is not said
	Refs               Unresolved        // the certificates it refers to (gatewayapi G58); zero if all are good
	WithoutCertificate string            // why it has no good certificate to show or to verify clients by; "": it may have one
	ValidityUnknown    bool              // a cluster withholds what would tell whether it is Valid
	Accepted           bool              // its protocol is supported, it is in no conflict, and nothing refuses it (gatewayapi G29)
	Valid              bool              // it is Accepted, and its references are not known to be bad (gatewayapi G22)
}

// ClientCertificate returns what became of the certificate that a Gateway shows to backends
// (gatewayapi G58), zero if it is good; false if the Gateway has none.
func (g *Graph) ClientCertificate(gateway NodeID) (Unresolved, bool) {
	u, ok := g.clientCertificates[gateway]
	return u, ok
}

// Listener returns the facts of a listener.
func (g *Graph) Listener(id NodeID) ListenerFacts {
	l := g.listenerAt(id)
	return ListenerFacts{Protocol: l.protocol, Port: l.port, Hostname: l.hostname, Kinds: l.kinds, InvalidKinds: l.invalidKinds, Unreadable: l.unreadable, Conflict: l.conflict,
		Refused: l.refusal, TLSMode: l.tlsMode, Refs: l.refs, WithoutCertificate: l.withoutCertificate, ValidityUnknown: l.refs.gap != noGap, Unsupported: l.isUnsupported(), Accepted: !l.isRefused(), Valid: l.isValid()}
}

// ParentVerdicts returns for every parentRef of a route, in order, the attachment that says how far
// it got (gatewayapi G11, G17): the first that is Accepted, else Unknown, else refused for the
// reason furthest down the checks.
func (g *Graph) ParentVerdicts(route NodeID) []Attachment {
	var out []Attachment
	for _, a := range g.Attachments(route) {
		last := len(out) - 1
		if last < 0 || out[last].Parent != a.Parent || out[last].Port != a.Port || out[last].Implicit != a.Implicit {
			out = append(out, a)
		} else if a.State.progress() > out[last].State.progress() {
			out[last] = a
		}
	}
	return out
}

// Problems lists what is wrong with the input as far as the graph reads it, and what is not evaluated, sorted.
func (g *Graph) Problems() []model.Problem { return g.problems }

// IsGranted reports whether objects of kind from in namespace ns may refer to the object to: it is
// in the same namespace, or a ReferenceGrant there says so (gatewayapi G32), or may say so where a
// cluster did not let us read them.
func (f *referenceJudge) IsGranted(from model.GroupKind, ns string, to model.Ref) bool {
	return f.grants.isAllowed(from, ns, to) || f.in.Cluster.IsUnread(grantKind, to.Namespace)
}
