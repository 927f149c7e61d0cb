package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// Parts is what a graph is made of: its nodes and edges, and what was found out about them while it
// was built.
type Parts struct {
	Nodes      *Nodes
	Traffic    []Edge                 // from a route down they are those of Mesh too
	Mesh       []Edge                 // from Services that are parents down to routes
	Above      []Edge                 // to what has policies that hold at a node as well
	Extensions map[string]ExtraFamily // the families of extensions, by name
	Uses       map[NodeID][]NodeUse
	References *reference.Judge
	Problems   []model.Problem

	// Of routes.
	Attachments      map[NodeID][]Attachment
	Unresolved       map[NodeID]reference.Unresolved
	WantDefaults     map[NodeID]struct{} // those that ask for default Gateways
	RouteAliases     []RouteAlias
	Readings         map[NodeID]gatewayapi.RefReading // how references are read, where it is not the standard way
	NamesNoObject    func(backend model.Ref) bool     // whether a reference to a backend names none
	RoutesTogether   bool
	DelegationHidden bool // whether some route hands over to others is decided by grants that may not be read

	// Of Gateways, ListenerSets and listeners.
	Listeners          map[NodeID]*ListenerFacts
	Implementations    map[NodeID]string // by Gateway: the name of its implementation
	Sets               map[NodeID]SetFacts
	SetsOf             map[NodeID][]NodeID // by Gateway
	SetsApart          bool
	MergesGateways     bool
	HostOwners         map[ListenerRoute]HostOwners
	SharedPorts        map[NodeID]HostOwners // by listener: those that share its port
	Certificates       reference.Certificates
	ClientCertificates map[NodeID]reference.Unresolved // by Gateway with a client certificate

	// Of backends.
	NumberedPorts map[model.GroupKind]bool
	Sections      map[model.GroupKind]SectionsFunc
	BackendJudges map[string]BackendJudge // by implementation
	FilterReaders map[string]FilterReader // by implementation
}

// ExtraFamily is a family that extensions make. Levels has its roles, every parent's before its
// children's.
type ExtraFamily struct {
	Levels []Role
	Edges  []Edge
}

// New makes a graph of its parts.
func New(p Parts) *Graph {
	g := &Graph{Judge: p.References, index: index{p.Nodes}, parts: p}
	g.adjacency = adjacency{families: p.buildFamilies(), above: newEdgeLists(p.Nodes.Len(), p.Above)}
	for name, f := range p.Extensions {
		g.families[name] = newEdgeFamily(p.Nodes.list, f.Edges, f.Levels)
		g.extensionFamilies = append(g.extensionFamilies, name)
	}
	slices.Sort(g.extensionFamilies)
	g.parts.Traffic, g.parts.Mesh, g.parts.Above, g.parts.Extensions = nil, nil, nil, nil
	return g
}

// The roles of the families, every parent's before its children's. A Service has a smaller id than
// its ports, which are on its level.
var (
	trafficLevels = [...]Role{GatewayClass, Gateway, ListenerSet, Listener, Route, Rule, Backend, Port}
	meshLevels    = [...]Role{Frontend, Route, Rule, Backend, Port}
	allLevels     = [...]Role{Frontend, GatewayClass, Gateway, ListenerSet, Listener, Route, Rule, Backend, Port}
)

// buildFamilies makes the families of the edges. Without a route that a Service is the parent of,
// All is Traffic, and Mesh has what only policies of its own can be in force at: backends.
func (p *Parts) buildFamilies() map[string]edgeFamily {
	nodes := p.Nodes.list
	traffic := newEdgeFamily(nodes, p.Traffic, trafficLevels[:])
	if len(p.Mesh) == 0 {
		return map[string]edgeFamily{Traffic: traffic, All: traffic,
			Mesh: {order: orderByLevel(nodes, []Role{Backend, Port})}}
	}
	mesh := slices.Clone(p.Mesh)
	for _, e := range p.Traffic {
		if role := nodes[e.From].Role; role == Route || role == Rule {
			mesh = append(mesh, e)
		}
	}
	return map[string]edgeFamily{
		Traffic: traffic, Mesh: newEdgeFamily(nodes, mesh, meshLevels[:]),
		All: newEdgeFamily(nodes, slices.Concat(p.Traffic, p.Mesh), allLevels[:]),
	}
}
