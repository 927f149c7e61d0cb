package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// draft is a graph under construction, as all phases of Build share it.
type draft struct {
	*Builder
	manifestReader
	in         *model.Snapshot
	nodes      *Nodes
	traffic    []Edge // from a route down they are those of Mesh too
	mesh       []Edge // from Services that are parents down to routes
	above      []Edge
	tables     map[NodeID][]Attachment // by route
	unresolved map[NodeID]Unresolved
	notes      map[noteTopic]*noteCount

	coverage           coverage
	grants             grantSet
	references         *referenceJudge
	unfollowedBackends []model.GroupKind // kinds that an implementation of the input takes as backends, and nobody else
	delegationHidden   bool              // whether some route hands over to others is decided by grants that may not be read

	lastNamespace struct {
		name string
		id   NodeID
	}
}

func newDraft(in *model.Snapshot, said *Builder) *draft {
	size := estimateNodes(in)
	d := &draft{
		Builder:    said,
		in:         in,
		nodes:      NewNodes(in, size),
		coverage:   newCoverage(in),
		tables:     map[NodeID][]Attachment{},
		traffic:    make([]Edge, 0, 2*size),
		above:      make([]Edge, 0, size),
		unresolved: map[NodeID]Unresolved{},
		notes:      map[noteTopic]*noteCount{},
	}
	d.grants = readGrants(in, &d.manifestReader)
	d.references = newReferenceJudge(in, d.coverage, d.grants)
	return d
}

// estimateNodes returns about the number of nodes that the graph of an input will have.
func estimateNodes(in *model.Snapshot) int {
	n := len(in.Objects) / 8
	for _, gk := range append(RouteKinds(), gatewayKind, serviceKind) {
		n += 3 * len(in.OfKind(gk)) // itself and two parts
	}
	return n
}

func (d *draft) addEdge(from, to NodeID) { d.traffic = append(d.traffic, Edge{From: from, To: to}) }

// addMesh adds an edge of the mesh: from a Service as a parent down to a port of it or to a route.
func (d *draft) addMesh(from, to NodeID) { d.mesh = append(d.mesh, Edge{From: from, To: to}) }

// addAbove says that the policies of above hold at id as well.
func (d *draft) addAbove(id, above NodeID) { d.above = append(d.above, Edge{From: id, To: above}) }

// addToNamespace says that the policies of a namespace hold at id as well.
func (d *draft) addToNamespace(namespace string, id NodeID) {
	if namespace != "" {
		d.addAbove(id, d.namespaceNode(namespace))
	}
}

// addNamespaces gives a node to every Namespace and to every namespace that an object is in. They come first, so that sorting by id
// puts a Service's namespace before the Service (see Above).
func (d *draft) addNamespaces() {
	for _, o := range d.in.OfKind(namespaceKind) {
		d.nodes.Add(Node{Role: Namespace, Ref: o.Ref, Object: o})
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
func (d *draft) namespaceNode(name string) NodeID {
	if name == d.lastNamespace.name {
		return d.lastNamespace.id
	}
	ref := namespaceRef(name)
	id, ok := d.nodes.Find(ref)
	if !ok {
		id = d.nodes.Add(Node{Role: Namespace, Ref: ref})
	}
	d.lastNamespace.name, d.lastNamespace.id = name, id
	return id
}

// namespaceRef returns the reference of the namespace called name.
func namespaceRef(name string) model.Ref { return model.Ref{Kind: namespaceKind.Kind, Name: name} }

// classNode returns the node of the class called name, which need not be in the input.
func (d *draft) classNode(name string) NodeID {
	ref := model.Ref{Group: gatewayClassKind.Group, Kind: gatewayClassKind.Kind, Name: name}
	if id, ok := d.nodes.Find(ref); ok {
		return id
	}
	return d.nodes.Add(Node{Role: GatewayClass, Ref: ref})
}

// withheldNode returns the node of a Gateway or a ListenerSet that we may not read and take to
// exist.
func (d *draft) withheldNode(role Role, ref model.Ref) NodeID {
	id, ok := d.nodes.Find(ref)
	if !ok {
		id = d.nodes.Add(Node{Role: role, Ref: ref})
		d.addToNamespace(ref.Namespace, id)
	}
	return id
}

// listParts returns what the draft has of the parts of a graph.
func (d *draft) listParts() Parts {
	return Parts{
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
		Problems:         model.SortProblems(d.problems),
		SetsApart:        d.settings.IsOff(GatewayReachesSets),
		MergesGateways:   d.settings.Bool(GatewayMerging),
		DelegationHidden: d.delegationHidden,
	}
}
