package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// draft is a graph under construction, as all phases of Build share it.
type draft struct {
	*Builder
	manifestReader
	referenceJudge
	index
	traffic    []edge // from a route down they are those of Mesh too
	mesh       []edge // from Services that are parents down to routes
	above      []edge
	tables     [][]Attachment // by route
	unresolved map[NodeID]Unresolved
	notes      map[noteTopic]*noteCount

	lastNamespace struct {
		name string
		id   NodeID
	}
}

func newDraft(in *model.Snapshot, said *Builder) *draft {
	size := estimateNodes(in)
	return &draft{
		Builder:        said,
		referenceJudge: referenceJudge{in: in, coverage: newCoverage(in), grants: grantSet{}, known: knownKinds(in)},
		index: index{
			objects:   in,
			nodes:     make([]Node, 0, size),
			byObject:  make(map[*model.Object]NodeID, len(in.Objects)),
			byName:    map[model.Ref]NodeID{},
			frontends: map[model.Ref]NodeID{},
			instances: map[NodeID][]NodeID{},
		},
		traffic:    make([]edge, 0, 2*size),
		above:      make([]edge, 0, size),
		unresolved: map[NodeID]Unresolved{},
		notes:      map[noteTopic]*noteCount{},
	}
}

// estimateNodes returns about the number of nodes that the graph of an input will have.
func estimateNodes(in *model.Snapshot) int {
	n := len(in.Objects) / 8
	for _, gk := range append(RouteKinds(), gatewayKind, serviceKind) {
		n += 3 * len(in.OfKind(gk)) // itself and two parts
	}
	return n
}

func (d *draft) addEdge(from, to NodeID) { d.traffic = append(d.traffic, edge{from, to}) }

// addToNamespace says that the policies of a namespace hold at id as well.
func (d *draft) addToNamespace(namespace string, id NodeID) {
	if namespace != "" {
		d.above = append(d.above, edge{id, d.namespaceNode(namespace)})
	}
}

// addNamespaces gives a node to every Namespace and to every namespace that an object is in. They come first, so that sorting by id
// puts a Service's namespace before the Service (see Above).
func (d *draft) addNamespaces() {
	for _, o := range d.in.OfKind(namespaceKind) {
		d.addNode(Node{Role: Namespace, Ref: o.Ref, Object: o})
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
	id, ok := d.findNode(ref)
	if !ok {
		id = d.addNode(Node{Role: Namespace, Ref: ref})
	}
	d.lastNamespace.name, d.lastNamespace.id = name, id
	return id
}

func namespaceRef(name string) model.Ref { return model.Ref{Kind: namespaceKind.Kind, Name: name} }

// classNode returns the node of the class called name, which need not be in the input.
func (d *draft) classNode(name string) NodeID {
	ref := model.Ref{Group: gatewayClassKind.Group, Kind: gatewayClassKind.Kind, Name: name}
	if id, ok := d.findNode(ref); ok {
		return id
	}
	return d.addNode(Node{Role: GatewayClass, Ref: ref})
}

// withheldNode returns the node of a Gateway or a ListenerSet that we may not read and take to
// exist.
func (d *draft) withheldNode(role Role, ref model.Ref) NodeID {
	id, ok := d.findNode(ref)
	if !ok {
		id = d.addNode(Node{Role: role, Ref: ref})
		d.addToNamespace(ref.Namespace, id)
	}
	return id
}

func (d *draft) buildGraph() *Graph {
	return &Graph{
		referenceJudge: d.referenceJudge,
		index:          d.index,
		adjacency:      adjacency{families: d.buildFamilies(), above: newEdgeLists(len(d.nodes), d.above)},
		tables:         d.tables,
		unresolved:     d.unresolved,
		numberedPorts:  d.numberedPorts,
		sections:       d.sections,
		problems:       model.SortProblems(d.problems),
		setsApart:      d.settings.IsOff(GatewayReachesSets),
		mergesGateways: d.settings.Bool(GatewayMerging),
	}
}
