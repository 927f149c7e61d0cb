package build

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// draft is a graph under construction, as all phases of Build share it.
type draft struct {
	*Builder
	manifest.Reader
	in         *model.Snapshot
	nodes      *topology.Nodes
	traffic    []topology.Edge // from a route down they are those of Mesh too
	mesh       []topology.Edge // from Services that are parents down to routes
	above      []topology.Edge
	tables     map[topology.NodeID][]topology.Attachment // by route
	unresolved map[topology.NodeID]reference.Unresolved
	readings   map[topology.NodeID]gatewayapi.RefReading // by route, where it is not the standard one
	notes      map[noteTopic]*noteCount

	grants             reference.Grants
	references         *reference.Judge
	unfollowedBackends []model.GroupKind // kinds that an implementation of the input takes as backends, and nobody else
	// whether some route hands over to others is decided by grants that may not be read
	delegationHidden bool

	lastNamespace struct {
		name string
		id   topology.NodeID
	}
}

func newDraft(in *model.Snapshot, said *Builder) *draft {
	size := estimateNodes(in)
	d := &draft{
		Builder:    said,
		in:         in,
		nodes:      topology.NewNodes(in, size),
		tables:     map[topology.NodeID][]topology.Attachment{},
		traffic:    make([]topology.Edge, 0, 2*size),
		above:      make([]topology.Edge, 0, size),
		unresolved: map[topology.NodeID]reference.Unresolved{},
		readings:   map[topology.NodeID]gatewayapi.RefReading{},
		notes:      map[noteTopic]*noteCount{},
	}
	d.grants = reference.ReadGrants(in, &d.Reader)
	d.references = reference.NewJudge(in, d.grants)
	return d
}

// estimateNodes returns about the number of nodes that the graph of an input will have.
func estimateNodes(in *model.Snapshot) int {
	n := len(in.Objects) / 8
	for _, gk := range append(gatewayapi.RouteKinds(), gatewayapi.GatewayKind, gatewayapi.ServiceKind) {
		n += 3 * len(in.OfKind(gk)) // itself and two parts
	}
	return n
}

func (d *draft) addEdge(from, to topology.NodeID) {
	d.traffic = append(d.traffic, topology.Edge{From: from, To: to})
}

// addMesh adds an edge of the mesh: from a Service as a parent down to a port of it or to a route.
func (d *draft) addMesh(from, to topology.NodeID) {
	d.mesh = append(d.mesh, topology.Edge{From: from, To: to})
}

// addAbove says that the policies of above hold at id as well.
func (d *draft) addAbove(id, above topology.NodeID) {
	d.above = append(d.above, topology.Edge{From: id, To: above})
}

// addToNamespace says that the policies of a namespace hold at id as well.
func (d *draft) addToNamespace(namespace string, id topology.NodeID) {
	if namespace != "" {
		d.addAbove(id, d.namespaceNode(namespace))
	}
}

// addNamespaces gives a node to every Namespace and to every namespace that an object is in. They
// come first, so that sorting by id puts a Service's namespace before the Service (see Above).
func (d *draft) addNamespaces() {
	for _, o := range d.in.OfKind(gatewayapi.NamespaceKind) {
		d.nodes.Add(topology.Node{Role: topology.Namespace, Ref: o.Ref, Object: o})
	}
	last := ""
	for _, o := range d.in.Objects {
		if ns := o.Ref.Namespace; ns != last {
			last = ns
			d.namespaceNode(ns)
		}
	}
}

// namespaceNode returns the node of the namespace called name, a new one if there is none. Objects
// come sorted by namespace, so that the last one asked for is mostly the next.
func (d *draft) namespaceNode(name string) topology.NodeID {
	if name == d.lastNamespace.name {
		return d.lastNamespace.id
	}
	ref := gatewayapi.NamespaceRef(name)
	id, ok := d.nodes.Find(ref)
	if !ok {
		id = d.nodes.Add(topology.Node{Role: topology.Namespace, Ref: ref})
	}
	d.lastNamespace.name, d.lastNamespace.id = name, id
	return id
}

// classNode returns the node of the class called name, which need not be in the input.
func (d *draft) classNode(name string) topology.NodeID {
	ref := model.Ref{Group: gatewayapi.GatewayClassKind.Group, Kind: gatewayapi.GatewayClassKind.Kind, Name: name}
	if id, ok := d.nodes.Find(ref); ok {
		return id
	}
	return d.nodes.Add(topology.Node{Role: topology.GatewayClass, Ref: ref})
}

// withheldNode returns the node of a Gateway or a ListenerSet that we may not read and take to
// exist.
func (d *draft) withheldNode(role topology.Role, ref model.Ref) topology.NodeID {
	id, ok := d.nodes.Find(ref)
	if !ok {
		id = d.nodes.Add(topology.Node{Role: role, Ref: ref})
		d.addToNamespace(ref.Namespace, id)
	}
	return id
}

// listParts returns what the draft has of the parts of a graph.
func (d *draft) listParts() topology.Parts {
	return topology.Parts{
		Nodes:            d.nodes,
		Traffic:          d.traffic,
		Mesh:             d.mesh,
		Above:            d.above,
		References:       d.references,
		Attachments:      d.tables,
		Unresolved:       d.unresolved,
		RouteAliases:     d.routeAliases,
		NumberedPorts:    d.numberedPorts,
		Sections:         d.sections,
		Problems:         model.SortProblems(d.Problems),
		SetsApart:        d.settings.IsOff(gatewayapi.GatewayReachesSets),
		MergesGateways:   d.settings.Bool(gatewayapi.GatewayMerging),
		DelegationHidden: d.delegationHidden,
	}
}
